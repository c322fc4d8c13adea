/**
 * Pages that a browser opens on this machine by another of its names, such as 127.0.0.1 for localhost: sessions, stored
 * choices and passkeys belong to one name, so they are led to the one of PUBLIC_URL.
 */
import { isLoopback } from '#libs/base/config/kinds';
import type { Middleware } from '#libs/base/http/context';

/**
 * Only where PUBLIC_URL is this very process: behind a proxy `Host` may be the proxy's business, and to lead its
 * requests would never end.
 */
export function atPublicName({ publicUrl, port }: { publicUrl: string | undefined; port: number }): Middleware {
  const home = new URL(publicUrl ?? 'https://nowhere.invalid');
  const isHere = home.protocol === 'http:' && home.pathname === '/' && Number(home.port || 80) === port;
  if (!isHere) return (_, next) => next();
  return (ctx, next) => {
    // what an address bar asks for; scripts and commands are answered under any name
    ctx.vary('Accept');
    if (ctx.accepts('json', 'html') !== 'html') return next();
    const asked = `http://${ctx.req.headers.host}`;
    if (!URL.canParse(asked)) return next();
    const { hostname, port: askedPort } = new URL(asked);
    if (hostname === home.hostname || askedPort !== home.port || !isLoopback(hostname)) return next();
    ctx.set({ Location: home.origin + ctx.url, 'Cache-Control': 'no-store' });
    ctx.status = 307;
    ctx.body = '';
    return undefined;
  };
}
