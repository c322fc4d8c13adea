/** Who may ask on loopback: a page elsewhere could have its own name lead here and read along (DNS rebinding). */
import { hostname } from 'node:os';

const loopback = /^(::ffff:)?127\.|^::1$/;
/** A page can have a name lead elsewhere, but no address. */
const addressOrLocalhost = /^(localhost|\d+(\.\d+){3}|\[[\da-f:.]+\])$/i;

/**
 * `host`: the Host header field; `localAddress`: the address of this machine that was asked. On loopback only addresses
 * and this machine's own names count; beyond it the names are those that the operator gave, and the network's to guard.
 */
export function isAskedByItsName(
  host: string | undefined,
  localAddress: string | undefined,
  ownName = hostname(),
): boolean {
  if (host === undefined || !loopback.test(localAddress ?? '')) return true;
  const name = host.replace(/:\d+$/, '');
  return addressOrLocalhost.test(name) || name.toLowerCase() === ownName.toLowerCase();
}
