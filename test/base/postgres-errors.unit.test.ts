import postgres from 'postgres';
import { expect, it } from 'vitest';
import { advise, isBadData, isBlocked, isOutage, isUnavailable } from '#libs/base/db/errors';

const withCode = (code: string) => Object.assign(new Error('failed'), { code });

it.each([
  // says which settings to look at where it is the certificate of the server
  ['DEPTH_ZERO_SELF_SIGNED_CERT', true],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', true],
  ['ERR_TLS_CERT_ALTNAME_INVALID', true],
  ['CERT_HAS_EXPIRED', true],
  ['INVALID_PURPOSE', true],
  ['ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION', false],
  ['ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', false],
])(
  'an error of TLS counts as an outage, and blames the certificate where it is that: %s, %s',
  (code, isCertificate) => {
    expect(isUnavailable(withCode(code))).toBe(true);
    const certificate = 'failed: this is no certificate that sslmode and sslrootcert of the address allow';
    expect(advise(withCode(code)).message).toBe(isCertificate ? certificate : 'failed');
  },
);

/** As the driver gives it. */
const ofPostgres = (code: string, message: string) =>
  Object.assign(new postgres.PostgresError(message), { code, severity: 'ERROR', message });

it('a right that is missing is an outage, not the fault of a record, and the message says who grants it', () => {
  const error = ofPostgres('42501', 'permission denied for table records');
  expect([isUnavailable(error), isOutage(error), isBadData(error)]).toEqual([true, true, false]);
  expect(advise(error).message).toMatch(/^permission denied for table records: assent migrate grants /);
});

it.each([
  // seen of a Postgres 15 whose next transaction id was set to the last one
  ['GetNewTransactionId', true],
  ['GetNewMultiXactId', true],
  // a row that is too large for an index
  ['index_form_tuple', false],
])('Postgres that has no ids left is an outage, another limit is not: %s, %s', (routine, isSo) => {
  const message = 'database is not accepting commands to avoid wraparound data loss';
  expect(isOutage(Object.assign(ofPostgres('54000', message), { routine }))).toBe(isSo);
});

it('a statement that took too long means that Postgres is unavailable for now; with fewer rows it may succeed', () => {
  const error = ofPostgres('57014', 'canceling statement due to statement timeout');
  expect([isUnavailable(error), isOutage(error), isBadData(error)]).toEqual([true, false, false]);
});

it.each([
  // its own timeout, that of its wait for a lock, and a deadlock
  ['57014', true],
  ['55P03', true],
  ['40P01', false],
])('a statement that took too long, or waited too long for a lock, had somebody in its way: %s, %s', (code, isSo) => {
  expect(isBlocked(ofPostgres(code, 'canceling statement'))).toBe(isSo);
});
