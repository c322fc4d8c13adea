/**
 * The address of Postgres with libpq's parameters for TLS and sockets. The driver does not know `verify-ca`, checks
 * `verify-full` of an IP address against another name, and sends `sslrootcert` to the server.
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
  // as libpq: a socket does not cross a network
  if (folder !== null) return { url: url.toString(), ssl: false, socket: { host: folder } };
  return { url: url.toString(), ssl: tlsOf(mode, url.hostname, rootFile), socket: {} };
}

/** As libpq (Postgres manual, 34.19.1), except that without `sslrootcert` Node's own certificates are trusted. */
function tlsOf(mode: string, host: string, rootFile: string | null): Address['ssl'] {
  if (mode === 'disable') return false;
  if (mode === 'require' && rootFile === null) return { rejectUnauthorized: false };
  const trusted = { rejectUnauthorized: true, ...(rootFile !== null && { ca: readFileSync(rootFile) }) };
  if (mode === 'require' || mode === 'verify-ca') return { ...trusted, checkServerIdentity: () => undefined };
  if (mode !== 'verify-full') throw new Error(`sslmode=${mode} is not supported`);
  return { ...trusted, checkServerIdentity: (_, certificate) => checkServerIdentity(host, certificate) };
}
