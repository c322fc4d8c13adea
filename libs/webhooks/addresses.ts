/** Which addresses webhooks may be sent to: those of the internet at large, by their text and by what a name resolves to. */

import { Resolver } from 'node:dns/promises';
import type { LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';

/** The address in its one form, or what is wrong with it. `allowPrivate`: WEBHOOK_ALLOW_PRIVATE. */
export function readWebhookUrl(text: string, allowPrivate: boolean): { url: string } | { refused: string } {
  if (!URL.canParse(text)) return { refused: 'must be an address such as https://example.com/hook' };
  // decimal, octal and shortened addresses are ordinary ones from here on
  const url = new URL(text);
  const protocols = allowPrivate ? ['https:', 'http:'] : ['https:'];
  if (!protocols.includes(url.protocol)) {
    const hint = url.protocol === 'http:' ? '; to try one out, set WEBHOOK_ALLOW_PRIVATE=true' : '';
    return { refused: `must begin with https://${hint}` };
  }
  if (url.username !== '' || url.password !== '') return { refused: 'must have no user name and no password' };
  if (text.includes('#')) return { refused: 'must have no fragment' };
  const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80));
  if (port !== 443 && port < 1024) return { refused: 'must have port 443, or one from 1024 on' };
  if (!isPublicHost(hostOf(url), allowPrivate)) return { refused: 'must not be a private address' };
  return { url: url.href };
}

/** Without brackets, and without the dot that ends a name. */
export const hostOf = (url: URL): string => url.hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');

const isLocalhost = (host: string): boolean => /(^|\.)localhost$/i.test(host);

function isPublicHost(host: string, allowPrivate: boolean): boolean {
  if (host === '') return false;
  if (ipaddr.isValid(host)) return canAddress(host, allowPrivate);
  return allowPrivate || !isLocalhost(host);
}

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
function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = unwrap(address);
  return parsed.range() === 'unicast' && (parsed instanceof ipaddr.IPv4 || parsed.match(global));
}

const isLoopback = (address: string): boolean => ipaddr.isValid(address) && unwrap(address).range() === 'loopback';

/** `allowPrivate`: WEBHOOK_ALLOW_PRIVATE. */
export const canAddress = (address: string, allowPrivate: boolean): boolean =>
  isPublicAddress(address) || (allowPrivate && isLoopback(address));

/** A name, or one of its addresses, that nothing may be sent to. */
export class RefusedAddress extends Error {}
/** A name without addresses. */
export class UnknownName extends Error {}

export type Resolve = (host: string) => Promise<string[]>;

/**
 * Asks name servers directly. `dns.lookup` has the process's four threads for all names, files and compression: a few names
 * whose servers are silent would hold up everybody else.
 */
export function createResolve(): Resolve {
  const resolver = new Resolver({ timeout: 2_000, tries: 2 });
  return async (host) => {
    if (isLocalhost(host)) return ['127.0.0.1', '::1'];
    const found = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
    const addresses = found.flatMap((each) => (each.status === 'fulfilled' ? each.value : []));
    if (addresses.length > 0) return addresses;
    throw new UnknownName(`${host} has no address`);
  };
}

/**
 * Resolves to public addresses only: whoever controls a name may have it lead anywhere, and elsewhere at each question (DNS
 * rebinding). Node asks here for each connection and connects to nothing but the answer.
 */
export function guardedLookup(resolve: Resolve, allowPrivate: boolean): LookupFunction {
  return (host, options, callback) => {
    const answer = async () => {
      const addresses = await resolve(host);
      const refused = addresses.find((address) => !canAddress(address, allowPrivate));
      if (refused !== undefined) throw new RefusedAddress(`${host} leads to ${refused}`);
      return addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
    };
    answer().then(
      (found) => {
        const [first] = found;
        if (!first) callback(new UnknownName(`${host} has no address`), '', 4);
        else if (options.all) callback(null, found);
        else callback(null, first.address, first.family);
      },
      (error: NodeJS.ErrnoException) => callback(error, '', 4),
    );
  };
}
