/**
 * Redirects pages that a browser on this machine opens under another name, such as 127.0.0.1 for localhost, to the name in
 * PUBLIC_URL: sessions, stored choices and passkeys belong to one name.
 */
import { isLoopback } from '#libs/base/config/kinds';
import type { Middleware } from '#libs/base/http/context';

/**
 * Only if PUBLIC_URL is this process itself: behind a proxy `Host` may be the proxy's choice, and redirecting its requests
 * would loop.
 */
export function atPublicName({ publicUrl, port }: { publicUrl: string | undefined; port: number }): Middleware {
  const home = new URL(publicUrl ?? 'https://nowhere.invalid');
  const isHere = home.protocol === 'http:' && home.pathname === '/' && Number(home.port || 80) === port;
  if (!isHere) return (_, next) => next();
  return (ctx, next) => {
    // only what an address bar asks for; scripts and commands may use any name
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
