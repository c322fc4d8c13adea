/** A self-signed certificate for a test server. Clients get it in order to trust it. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { isIP } from 'node:net';
import path from 'node:path';
import { findOpenssl } from './packages.ts';
import { type ServiceUser, writeFor } from './service-user.ts';
import { outputOf } from './tether.ts';

export interface Certificate {
  /** its only name or address */
  host: string;
  keyFile: string;
  certFile: string;
  /** PEM */
  cert: string;
}

export async function makeCertificate(dir: string, host: string): Promise<Certificate> {
  const folder = path.resolve(dir);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const { binary, env } = await findOpenssl();
  const [keyFile, certFile] = [path.join(folder, 'key.pem'), path.join(folder, 'cert.pem')];
  // an unpacked openssl does not find its own configuration
  const config = path.join(folder, 'openssl.conf');
  writeFileSync(config, '[req]\ndistinguished_name = name\n[name]\n');
  const kind = ['-config', config, '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2'];
  const extensions = ['basicConstraints=CA:TRUE', `subjectAltName=${isIP(host) ? 'IP' : 'DNS'}:${host}`];
  const names = ['-subj', `/CN=${host}`, ...extensions.flatMap((extension) => ['-addext', extension])];
  await outputOf(binary, ['req', '-x509', ...kind, ...names, '-keyout', keyFile, '-out', certFile], { env });
  return { host, keyFile, certFile, cert: readFileSync(certFile, 'utf8') };
}

/** Copies it to `folder` for a server that runs as another user. */
export function handCertificate(made: Certificate, folder: string, user: ServiceUser | undefined): Certificate {
  const [keyFile, certFile] = [path.join(folder, 'key.pem'), path.join(folder, 'cert.pem')];
  writeFor(user, keyFile, readFileSync(made.keyFile));
  writeFor(user, certFile, made.cert);
  return { ...made, keyFile, certFile };
}
