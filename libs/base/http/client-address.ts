/** The client's address: as the trusted proxies report it, and as limits count it. */
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import type { Context } from './context.ts';
import { zeroAfter } from './stored-address.ts';

declare module './context.ts' {
  interface State {
    /** found when it is first asked for */
    clientAddress?: string;
  }
}

/** Found once per request, for the limits and for the record. */
export function clientAddress(ctx: Context): string {
  ctx.state.clientAddress ??= findClientAddress(ctx);
  return ctx.state.clientAddress;
}

/** Koa reads X-Forwarded-For only if hops are trusted, and then only the entries that those proxies added. */
function findClientAddress(ctx: Context): string {
  const told = ctx.app.proxy ? withoutZone(withoutPort(ctx.ip)) : '';
  const address = isIP(told) ? told : withoutZone(ctx.req.socket.remoteAddress ?? '');
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
