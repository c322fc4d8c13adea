/**
 * What our statements and the driver take for granted of a session. A login, a database or a server may have other
 * defaults, so each connection says it. Where the tables are (`search_path`) is the operator's choice.
 */

/** A PgBouncer takes these at the start of a session, as Postgres does. */
export const sessionBasics = {
  timezone: 'UTC',
  datestyle: 'ISO, MDY',
  standard_conforming_strings: 'on',
};

/** An older PgBouncer refuses these at the start; a transaction may set them for itself. */
export const sessionFormats = {
  intervalstyle: 'postgres',
  bytea_output: 'hex',
  extra_float_digits: 1,
};

/** No transaction sets this for itself: it begins with it. */
export const isolation = 'read committed';
export const sessionIsolation = { default_transaction_isolation: isolation } as const;

/** In lower case: no address of Postgres has them, since the driver would prefer its. */
export const sessionNames = [
  ...Object.keys({ ...sessionBasics, ...sessionFormats, ...sessionIsolation }),
  'client_encoding',
];
