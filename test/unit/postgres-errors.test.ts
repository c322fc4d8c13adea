import { expect, it } from 'vitest';
import { advise, isUnavailable } from '#libs/store/errors';

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
