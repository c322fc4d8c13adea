/** The client's address: who it was, as far as the trusted proxies say, and what may be stored of it. */
import { createHmac, type KeyObject } from 'node:crypto';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import type { ApiConfig } from '#libs/config/api';
import type { Context } from '../http/context.ts';

declare module '../http/context.ts' {
  interface State {
    /** found when it is first asked for */
    clientAddress?: string;
  }
}

/** Found once for a request: limits and the record ask for it. */
export function clientAddress(ctx: Context): string {
  ctx.state.clientAddress ??= findClientAddress(ctx);
  return ctx.state.clientAddress;
}

/** Koa reads X-Forwarded-For only where hops are trusted, and then only the entries that those proxies added. */
function findClientAddress(ctx: Context): string {
  const told = ctx.app.proxy ? withoutZone(withoutPort(ctx.ip)) : '';
  const address = isIP(told) ? told : withoutZone(ctx.req.socket.remoteAddress ?? '');
  // IPv4 written as IPv6 is that IPv4 address
  return /^::ffff:/i.test(address) ? ipaddr.process(address).toString() : address;
}

/** Some gateways write `203.0.113.9:5555` or `[2001:db8::1]:443`. */
const withoutPort = (address: string): string =>
  isIP(address) ? address : address.replace(/^\[(.+)\](:\d+)?$|^([\d.]+):\d+$/, '$1$3');

/** `fe80::1%eth0`: which of this machine's links it came by is no part of who it was. */
const withoutZone = (address: string): string => {
  const zone = address.indexOf('%');
  return zone === -1 ? address : address.slice(0, zone);
};

/** What one client can easily change of its address does not make it another one: IPv6 counts by /64. */
export const network = (address: string): string => (address.includes(':') ? zeroAfter(address, 8) : address);

/** The address as `IP_MODE` lets it be stored; undefined for none. */
export function storedAddress(address: string, { mode, hashKey }: ApiConfig['ip']): string | undefined {
  if (!isIP(address) || mode === 'none') return undefined;
  if (mode === 'full') return address;
  if (mode === 'hashed' && hashKey) return hashed(address, hashKey);
  return address.includes(':') ? zeroAfter(address, 6) : `${address.slice(0, address.lastIndexOf('.'))}.0`;
}

const hashed = (address: string, key: KeyObject): string =>
  createHmac('sha256', key).update(address).digest('hex').slice(0, 32);

/** Keeps the first `count` bytes of an IPv6 address: 6 are its /48, 8 its /64. */
function zeroAfter(address: string, count: number): string {
  const bytes = ipaddr.parse(address).toByteArray();
  return ipaddr.fromByteArray(bytes.map((byte, at) => (at < count ? byte : 0))).toString();
}
