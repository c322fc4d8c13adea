/** The client's address: as the trusted proxies report it, as rate limits count it, and as `IP_MODE` allows to store it. */
import { createHmac, type KeyObject } from 'node:crypto';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import type { Context } from './context.ts';

declare module './context.ts' {
  interface State {
    /** computed on first use */
    clientAddress?: string;
  }
}

/** Computed once per request, for the limits and for the record. */
export function clientAddress(ctx: Context): string {
  ctx.state.clientAddress ??= findClientAddress(ctx);
  return ctx.state.clientAddress;
}

/** Koa reads X-Forwarded-For only if proxies are trusted, and then only the entries that those proxies added. */
function findClientAddress(ctx: Context): string {
  const reported = ctx.app.proxy ? withoutZone(withoutPort(ctx.ip)) : '';
  const address = isIP(reported) ? reported : withoutZone(ctx.req.socket.remoteAddress ?? '');
  // IPv4-mapped IPv6
  return /^::ffff:/i.test(address) ? ipaddr.process(address).toString() : address;
}

/** Some gateways write `203.0.113.9:5555` or `[2001:db8::1]:443`. */
const withoutPort = (address: string): string =>
  isIP(address) ? address : address.replace(/^\[(.+)\](:\d+)?$|^([\d.]+):\d+$/, '$1$3');

/** `fe80::1%eth0`: the zone names an interface of this machine, not the client. */
const withoutZone = (address: string): string => {
  const zone = address.indexOf('%');
  return zone === -1 ? address : address.slice(0, zone);
};

/** A client can change the lower half of an IPv6 address at will, so limits count by /64. */
export const network = (address: string): string => (address.includes(':') ? zeroAfter(address, 8) : address);

export interface AddressRule {
  mode: 'truncated' | 'hashed' | 'full' | 'none';
  /** for `hashed` */
  hashKey: KeyObject | undefined;
}

/** Undefined for none. */
export function storedAddress(address: string, { mode, hashKey }: AddressRule): string | undefined {
  if (!isIP(address) || mode === 'none') return undefined;
  if (mode === 'full') return address;
  if (mode === 'hashed' && hashKey) return hashed(address, hashKey);
  return address.includes(':') ? zeroAfter(address, 6) : `${address.slice(0, address.lastIndexOf('.'))}.0`;
}

const hashed = (address: string, key: KeyObject): string =>
  createHmac('sha256', key).update(address).digest('hex').slice(0, 32);

/** An address that was hashed before it was sent to us. */
export const isHashedAddress = (text: string): boolean => /^[0-9a-f]{32}$/.test(text);

/** Keeps the first `count` bytes of an IPv6 address: 6 are its /48, 8 its /64. */
function zeroAfter(address: string, count: number): string {
  const bytes = ipaddr.parse(address).toByteArray();
  return ipaddr.fromByteArray(bytes.map((byte, at) => (at < count ? byte : 0))).toString();
}
