/**
 * Session settings that our statements and the driver rely on. A login, a database or a server may have other defaults, so
 * each connection sets them. `search_path` is the operator's choice.
 */

/** PgBouncer accepts these at the start of a session, as Postgres does. */
export const sessionBasics = {
  timezone: 'UTC',
  datestyle: 'ISO, MDY',
  standard_conforming_strings: 'on',
};

/** Older versions of PgBouncer refuse these at the start, so transactions set them. */
export const sessionFormats = {
  intervalstyle: 'postgres',
  bytea_output: 'hex',
  extra_float_digits: 1,
};

/** The isolation level is set as a transaction begins, because it cannot be set later. */
export const isolation = 'read committed';
export const sessionIsolation = { default_transaction_isolation: isolation } as const;

/** In lower case. An address of Postgres cannot contain them, since the driver would prefer its value. */
export const sessionNames = [
  ...Object.keys({ ...sessionBasics, ...sessionFormats, ...sessionIsolation }),
  'client_encoding',
];
