/** Which addresses webhooks may be sent to: those of the internet at large. */
import ipaddr from 'ipaddr.js';

/** all that IANA has assigned as global unicast */
const global = ipaddr.IPv6.parseCIDR('2000::/3');
const nat64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96');

/** An address that stands for one of IPv4 is judged as that one. */
function unwrap(address: string): ipaddr.IPv4 | ipaddr.IPv6 {
  const parsed = ipaddr.process(address);
  if (!(parsed instanceof ipaddr.IPv6) || !parsed.match(nat64)) return parsed;
  return new ipaddr.IPv4(parsed.toByteArray().slice(12));
}

/** Global unicast. What is no address is not. */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = unwrap(address);
  return parsed.range() === 'unicast' && (parsed instanceof ipaddr.IPv4 || parsed.match(global));
}

export const isLoopback = (address: string): boolean =>
  ipaddr.isValid(address) && unwrap(address).range() === 'loopback';

/** `allowPrivate`: WEBHOOK_ALLOW_PRIVATE. */
export const canAddress = (address: string, allowPrivate: boolean): boolean =>
  isPublicAddress(address) || (allowPrivate && isLoopback(address));
