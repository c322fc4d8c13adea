/**
 * Checks the libpq parameters for TLS and sockets in an address of Postgres when a process starts. `readAddress` knows only
 * these; Postgres would reject any other `ssl…` parameter as unknown. Parameters that change what our statements rely on
 * are refused; all others are left to Postgres.
 */
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { sessionNames } from '../db/session.ts';
import { faultOfSocket } from './postgres-socket.ts';
import { BadSetting } from './read.ts';

const modes = ['disable', 'require', 'verify-ca', 'verify-full'];
const parameters = ['sslmode', 'sslrootcert'];

export function checkPostgresAddress(name: string, address: string): string {
  const refuse = (rule: string): never => {
    throw new BadSetting(`${name} must be ${rule}`);
  };
  const { hostname, searchParams: query } = new URL(address);
  // the driver would take the part before the first colon as the host
  if (hostname.startsWith('[')) refuse('an address whose host is a name or an IPv4 address');
  const faultOfHost = faultOfSocket(address);
  if (faultOfHost) refuse(faultOfHost);
  const ours = [...query.keys()].find((each) => sessionNames.includes(each.toLowerCase()));
  if (ours) refuse(`an address without ${ours}, which every connection sets itself`);
  const unknown = [...query.keys()].find((each) => each.startsWith('ssl') && !parameters.includes(each));
  if (unknown) refuse(`an address without ${unknown}: of TLS it may have ${parameters.join(' and ')}`);
  const mode = query.get('sslmode') ?? 'disable';
  if (!modes.includes(mode)) refuse(`an address whose sslmode is one of ${modes.join(', ')}`);
  const file = query.get('sslrootcert');
  if (file === null) return address;
  if (mode === 'disable') refuse('an address with sslmode=verify-full beside its sslrootcert');
  const fault = faultOf(file);
  if (fault) refuse(`an address whose sslrootcert is a file of certificates (PEM): ${fault}`);
  return address;
}

const isMarked = (text: string): boolean => text.startsWith('-----BEGIN CERTIFICATE-----');

function faultOf(file: string): string | undefined {
  try {
    const certificates = readFileSync(file, 'utf8')
      .split(/(?=-----BEGIN CERTIFICATE-----)/)
      .filter(isMarked);
    for (const certificate of certificates) new X509Certificate(certificate);
    return certificates.length > 0 ? undefined : `${file} has none`;
  } catch (error) {
    return `${file}: ${error instanceof Error ? error.message : String(error)}`;
  }
}
