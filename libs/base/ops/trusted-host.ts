/** The operations port has no password, so on loopback only known host names are answered: this prevents DNS rebinding. */
import { hostname } from 'node:os';

const loopback = /^(::ffff:)?127\.|^::1$/;
/** DNS rebinding needs a name in a foreign domain; an address cannot be rebound. */
const addressOrLocalhost = /^(localhost|\d+(\.\d+){3}|\[[\da-f:.]+\])$/i;

/**
 * `host`: the Host header; `localAddress`: the local address of the connection. On loopback only IP addresses,
 * `localhost` and the machine's own name are trusted. On other interfaces every name is: there the operator opened the
 * port, and the network guards it.
 */
export function isTrustedHost(
  host: string | undefined,
  localAddress: string | undefined,
  ownName = hostname(),
): boolean {
  if (host === undefined || !loopback.test(localAddress ?? '')) return true;
  const name = host.replace(/:\d+$/, '');
  return addressOrLocalhost.test(name) || name.toLowerCase() === ownName.toLowerCase();
}
