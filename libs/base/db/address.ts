/**
 * The address of Postgres, and what libpq's parameters in it say of TLS and of a socket. The driver would not know
 * `verify-ca`, would check `verify-full` of an IP address against another name, and would send `sslrootcert` to the server.
 */
import { readFileSync } from 'node:fs';
import { type ConnectionOptions, checkServerIdentity } from 'node:tls';

export interface Address {
  /** without those parameters */
  url: string;
  ssl: false | ConnectionOptions;
  /** instead of the host in the address */
  socket: { host?: string };
}

export function readAddress(given: string): Address {
  const url = new URL(given);
  const mode = url.searchParams.get('sslmode') ?? 'disable';
  const rootFile = url.searchParams.get('sslrootcert');
  const folder = url.searchParams.get('host');
  for (const name of ['sslmode', 'sslrootcert', 'host']) url.searchParams.delete(name);
  // as libpq: nobody listens on the way to a socket
  if (folder !== null) return { url: url.toString(), ssl: false, socket: { host: folder } };
  return { url: url.toString(), ssl: tlsOf(mode, url.hostname, rootFile), socket: {} };
}

/** As libpq (Postgres manual, 34.19.1), but without a file the certificates that Node trusts count. */
function tlsOf(mode: string, host: string, rootFile: string | null): Address['ssl'] {
  if (mode === 'disable') return false;
  if (mode === 'require' && rootFile === null) return { rejectUnauthorized: false };
  const trusted = { rejectUnauthorized: true, ...(rootFile !== null && { ca: readFileSync(rootFile) }) };
  if (mode === 'require' || mode === 'verify-ca') return { ...trusted, checkServerIdentity: () => undefined };
  if (mode !== 'verify-full') throw new Error(`sslmode=${mode} is not supported`);
  return { ...trusted, checkServerIdentity: (_, certificate) => checkServerIdentity(host, certificate) };
}
