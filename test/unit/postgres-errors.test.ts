import { describe, expect, it } from 'vitest';
import { advise, isUnavailable } from '#libs/store/errors';

const withCode = (code: string) => Object.assign(new Error('failed'), { code });
const aboutCertificate = 'failed: this is no certificate that sslmode and sslrootcert of the address allow';

describe('an error of TLS', () => {
  it.each(['DEPTH_ZERO_SELF_SIGNED_CERT', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'ERR_TLS_CERT_ALTNAME_INVALID'])(
    'says which settings to look at where it is the certificate: %s',
    (code) => {
      expect(advise(withCode(code)).message).toBe(aboutCertificate);
    },
  );

  it.each(['ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION', 'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED'])(
    'blames no certificate of the server where it is another: %s',
    (code) => {
      expect(advise(withCode(code)).message).toBe('failed');
    },
  );

  it.each(['CERT_HAS_EXPIRED', 'INVALID_PURPOSE', 'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION'])(
    'counts as an outage: %s',
    (code) => {
      expect(isUnavailable(withCode(code))).toBe(true);
    },
  );
});
