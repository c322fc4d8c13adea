/**
 * Resolves the names of receivers for a connection, and lets through only addresses of the internet at large: whoever
 * controls a name may have it lead anywhere, and to somewhere else at each question (DNS rebinding). Node asks here for
 * each connection and connects to nothing but the answer.
 */
import { Resolver } from 'node:dns/promises';
import type { LookupFunction } from 'node:net';
import { canAddress } from './public-address.ts';
import { isLocalhost } from './webhook-url.ts';

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
