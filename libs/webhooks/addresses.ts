/**
 * Addresses that webhooks may be sent to: public ones and those that the operator allows. Checked in the URL, and again for
 * the addresses that a name resolves to.
 */

import { lookup, Resolver } from 'node:dns/promises';
import type { LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Receivers that are allowed beyond public addresses. */
export interface AddressPolicy {
  /** WEBHOOK_ALLOW_PRIVATE: `http` and this machine, for trying out */
  allowPrivate: boolean;
  /** WEBHOOK_ALLOW: addresses in these networks (CIDR), and addresses of these names (lower case) */
  networks: string[];
  names: string[];
  /** Postgres and Redis, which are always refused */
  stores: Store[];
}

interface Store {
  host: string;
  port: number;
}

/** The normalized URL, or why it is refused. */
export function readWebhookUrl(text: string, reach: AddressPolicy): { url: string } | { refused: string } {
  if (!URL.canParse(text)) return { refused: 'must be an address such as https://example.com/hook' };
  // this also normalizes decimal, octal and shortened addresses
  const url = new URL(text);
  const { host, port, isFree: isExempt } = placeOf(url, reach);
  const isAllowed = isExempt || (!ipaddr.isValid(host) && reach.networks.length > 0);
  const protocols = reach.allowPrivate || isAllowed ? ['https:', 'http:'] : ['https:'];
  if (!protocols.includes(url.protocol)) {
    const hint = url.protocol === 'http:' ? '; the operator can allow more (WEBHOOK_ALLOW)' : '';
    return { refused: `must begin with https://${hint}` };
  }
  if (url.username !== '' || url.password !== '') return { refused: 'must have no user name and no password' };
  if (text.includes('#')) return { refused: 'must have no fragment' };
  if (port !== 443 && port < 1024 && !isAllowed) return { refused: 'must have port 443, or one from 1024 on' };
  if (!isAllowed && !isPublicHost(host, reach)) return { refused: 'must not be a private address' };
  if (reach.stores.some((store) => store.port === port && store.host.toLowerCase() === host.toLowerCase()))
    return { refused: 'must not be a store of this service' };
  return { url: url.href };
}

interface Place {
  host: string;
  port: number;
  /** the operator allows it, with any protocol and port */
  isFree: boolean;
}

function placeOf(url: URL, reach: AddressPolicy): Place {
  const host = hostOf(url);
  const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80));
  const isFree = ipaddr.isValid(host) ? isInNetworks(host, reach) : reach.names.includes(host.toLowerCase());
  return { host, port, isFree };
}

/** Without brackets, and without the dot that ends a name. */
export const hostOf = (url: URL): string => url.hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');

const isLocalhost = (host: string): boolean => /(^|\.)localhost$/i.test(host);

function isPublicHost(host: string, reach: AddressPolicy): boolean {
  if (host === '') return false;
  if (ipaddr.isValid(host)) return canAddress(host, reach);
  return reach.allowPrivate || !isLocalhost(host);
}

/** IANA's global unicast addresses */
const global = ipaddr.IPv6.parseCIDR('2000::/3');
const nat64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96');

/** The IPv4 address inside a mapped or NAT64 address; any other address unchanged. */
function unwrap(address: string): ipaddr.IPv4 | ipaddr.IPv6 {
  const parsed = ipaddr.process(address);
  if (!(parsed instanceof ipaddr.IPv6) || !parsed.match(nat64)) return parsed;
  return new ipaddr.IPv4(parsed.toByteArray().slice(12));
}

/** Cloud metadata services at addresses that are not link-local: Azure, Alibaba, Oracle; over IPv6 also AWS and Google. */
const metadata = ['168.63.129.16', '100.100.100.200', '192.0.0.192', 'fd00:ec2::254', 'fd20:ce::254'].map((each) =>
  ipaddr.parse(each).toString(),
);

/** Whether it is a global unicast address. */
function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = unwrap(address);
  if (metadata.includes(parsed.toString())) return false;
  return parsed.range() === 'unicast' && (parsed instanceof ipaddr.IPv4 || parsed.match(global));
}

const isLoopback = (address: string): boolean => ipaddr.isValid(address) && unwrap(address).range() === 'loopback';

/** Ranges that an operator may allow. Link-local is not among them, because metadata services use it. */
const allowable = ['unicast', 'private', 'uniqueLocal', 'loopback', 'carrierGradeNat'];

const isAllowable = (address: string): boolean => {
  if (!ipaddr.isValid(address)) return false;
  const parsed = unwrap(address);
  return allowable.includes(parsed.range()) && !metadata.includes(parsed.toString());
};

function isInNetworks(address: string, { networks }: AddressPolicy): boolean {
  if (!isAllowable(address)) return false;
  const parsed = unwrap(address);
  return networks.some((network) => {
    const [base, bits] = ipaddr.parseCIDR(network);
    return base.kind() === parsed.kind() && parsed.match(base, bits);
  });
}

export const canAddress = (address: string, reach: AddressPolicy): boolean =>
  isPublicAddress(address) || isInNetworks(address, reach) || (reach.allowPrivate && isLoopback(address));

/** Nothing may be sent to this name or one of its addresses. */
export class RefusedAddress extends Error {}
/** A name without addresses. */
export class UnknownName extends Error {}

export type Resolve = (host: string) => Promise<string[]>;

/**
 * Asks name servers directly. `dns.lookup` uses the process's four threads, which files and compression share, so a few
 * names whose servers do not respond would block all other work.
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
 * Throws a RefusedAddress unless all of these addresses of a URL's host are allowed. Ports below 1024 other than 443, and
 * `http` unless `allowPrivate`, are only for receivers that the operator allows.
 */
export async function checkAddresses(
  url: URL,
  addresses: string[],
  reach: AddressPolicy,
  resolve: Resolve,
): Promise<void> {
  const { host, port, isFree } = placeOf(url, reach);
  const isPlain = (url.protocol === 'http:' && !reach.allowPrivate) || (port !== 443 && port < 1024);
  const refused = addresses.find((address) => {
    if (isFree) return !isAllowable(address);
    return isPlain ? !isInNetworks(address, reach) : !canAddress(address, reach);
  });
  if (refused !== undefined) throw new RefusedAddress(`${host} leads to ${refused}`);
  const stores = reach.stores.filter((store) => store.port === port);
  const theirs = await Promise.all(stores.map((each) => addressesOf(each, resolve)));
  const taken = new Set(theirs.flat().map((each) => unwrap(each).toString()));
  const store = addresses.find((address) => taken.has(unwrap(address).toString()));
  if (store !== undefined) throw new RefusedAddress(`${host} leads to a store at ${store}`);
}

/**
 * If DNS has no record, asks the system resolver, which also reads /etc/hosts. Throws if the store is not found, because
 * any address could then be the store's.
 */
async function addressesOf({ host }: Store, resolve: Resolve): Promise<string[]> {
  if (ipaddr.isValid(host)) return [host];
  try {
    return await resolve(host).catch(async () => (await lookup(host, { all: true })).map(({ address }) => address));
  } catch (error) {
    throw new RefusedAddress(`the store ${host} cannot be found, so nothing is sent to its port`, { cause: error });
  }
}

/**
 * A `lookup` that returns allowed addresses only. Node connects to exactly the addresses that were checked, which prevents
 * DNS rebinding.
 */
export function guardedLookup(url: URL, resolve: Resolve, reach: AddressPolicy): LookupFunction {
  return (host, options, callback) => {
    const allowedAddresses = async () => {
      const addresses = await resolve(host);
      await checkAddresses(url, addresses, reach, resolve);
      return addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
    };
    allowedAddresses().then(
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
