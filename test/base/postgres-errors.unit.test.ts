import postgres from 'postgres';
import { expect, it } from 'vitest';
import { advise, isBadData, isOutage, isUnavailable } from '#libs/base/db/errors';

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

it('a right that is missing is an outage, not the fault of a record, and the message says who grants it', () => {
  const fields = { code: '42501', severity: 'ERROR', message: 'permission denied for table records' };
  const error = Object.assign(new postgres.PostgresError(fields.message), fields);
  expect([isUnavailable(error), isOutage(error), isBadData(error)]).toEqual([true, true, false]);
  expect(advise(error).message).toMatch(/^permission denied for table records: assent migrate grants /);
});
