/** A certificate that signs itself, made by openssl. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { inject } from 'vitest';

export function makeCertificate(name: string): { key: string; cert: string } {
  const folder = mkdtempSync(path.join(inject('folder'), 'certificate-'));
  const [key, cert] = ['key.pem', 'cert.pem'].map((file) => path.join(folder, file)) as [string, string];
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2'];
  const names = ['-subj', `/CN=${name}`, '-addext', `subjectAltName=DNS:${name}`];
  execFileSync('openssl', ['req', '-x509', ...kind, ...names, '-keyout', key, '-out', cert], { stdio: 'ignore' });
  return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') };
}
