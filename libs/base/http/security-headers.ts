/**
 * Headers that restrict what browsers do with a response. Responses to records only have `nosniff` and CORS, because pages
 * of other sites read them. All others are for the service's own pages and for programs.
 */
import type { Middleware } from './context.ts';

export const forDocuments = {
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'X-Frame-Options': 'DENY',
};

/** JSON: never executed, framed, or loaded by another site. */
export const documentHeaders: Middleware = (ctx, next) => {
  ctx.set(forDocuments);
  return next();
};

/** Responses to reads must not be cached for somebody else. */
export const readHeaders: Middleware = (ctx, next) => {
  ctx.set('Cache-Control', 'no-store');
  return documentHeaders(ctx, next);
};

/** For pages; no HSTS, since TLS is the operator's decision. */
const ofPages = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Origin-Agent-Cluster': '?1',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'X-DNS-Prefetch-Control': 'off',
  'X-Download-Options': 'noopen',
  'X-Frame-Options': 'SAMEORIGIN',
  'X-Permitted-Cross-Domain-Policies': 'none',
  'X-XSS-Protection': '0',
};

/** `directives` of the page's policy; `changed`: an undefined header is left out. */
export function pageHeaders(
  directives: Record<string, string>,
  changed: Record<string, string | undefined> = {},
): Middleware {
  const policy = Object.entries(directives).map((directive) => directive.join(' '));
  const headers = Object.entries({ ...ofPages, ...changed, 'Content-Security-Policy': policy.join(';') });
  const set = Object.fromEntries(headers.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
  return (ctx, next) => {
    ctx.set(set);
    return next();
  };
}

/** The service's own pages load nothing from other origins, run no inline script and cannot be framed. */
const own = {
  'default-src': "'none'",
  'script-src': "'self'",
  'connect-src': "'self'",
  'base-uri': "'none'",
  'form-action': "'none'",
  'frame-ancestors': "'none'",
  'style-src': "'self'",
};

export const docsHeaders = pageHeaders({ ...own, 'connect-src': "'none'" });
/** The demo shop embeds a film and a map of its own. */
export const demoHeaders = pageHeaders({
  ...own,
  'img-src': "'self'",
  'frame-src': "'self'",
  'frame-ancestors': "'self'",
});
/** `provider`: the identity provider that people sign in at. */
export const dashboardHeaders = (provider?: string): Middleware =>
  pageHeaders({
    ...own,
    'img-src': "'self'",
    'frame-src': "'self'",
    ...(provider !== undefined && { 'connect-src': `'self' ${new URL(provider).origin}` }),
  });

/**
 * The page in which the dashboard previews the widget. It runs settings that others wrote, so it has an opaque origin: it
 * reaches no storage and sends nothing. Its own files count as another origin's.
 */
export const previewHeaders = pageHeaders(
  { ...own, 'connect-src': "'none'", 'frame-ancestors': "'self'", sandbox: 'allow-scripts' },
  {
    'Cross-Origin-Resource-Policy': 'cross-origin',
    // a browser refuses to open a sandboxed page with this header
    'Cross-Origin-Opener-Policy': undefined,
    'Origin-Agent-Cluster': undefined,
  },
);

/** For a self-contained page. `policy` allows its inline script and style by hash, and loads nothing. */
export const singlePageHeaders = (policy: string): Record<string, string> => ({
  ...forDocuments,
  'Content-Security-Policy': `${policy};frame-ancestors 'none'`,
  'Cross-Origin-Opener-Policy': 'same-origin',
});
