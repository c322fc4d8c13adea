/**
 * What browsers may do with an answer. Answers to records have only `nosniff` and CORS, because pages of other sites read
 * them. Everything else is for this service's own pages and for programs.
 */
import type { Middleware } from './context.ts';

export const forDocuments = {
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'X-Frame-Options': 'DENY',
};

/** JSON: never run, framed, or loaded by another site. */
export const documentHeaders: Middleware = (ctx, next) => {
  ctx.set(forDocuments);
  return next();
};

/** Answers to reads belong to their caller alone. */
export const readHeaders: Middleware = (ctx, next) => {
  ctx.set('Cache-Control', 'no-store');
  return documentHeaders(ctx, next);
};

/** Of a page, whatever it loads. TLS is the operator's decision. */
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

/** `directives` of its policy; `changed`: a header that is undefined is left out. */
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
/** The shop embeds a film and a map of its own. */
export const demoHeaders = pageHeaders({
  ...own,
  'img-src': "'self'",
  'frame-src': "'self'",
  'frame-ancestors': "'self'",
});
/** `provider`: where people sign in. */
export const dashboardHeaders = (provider?: string): Middleware =>
  pageHeaders({
    ...own,
    'img-src': "'self'",
    'frame-src': "'self'",
    ...(provider !== undefined && { 'connect-src': `'self' ${new URL(provider).origin}` }),
  });

/**
 * The page in which the dashboard shows the widget. It runs foreign settings, so it has an origin of its own: it reaches
 * no storage, and sends nothing. Its own files are then from another origin.
 */
export const previewHeaders = pageHeaders(
  { ...own, 'connect-src': "'none'", 'frame-ancestors': "'self'", sandbox: 'allow-scripts' },
  {
    'Cross-Origin-Resource-Policy': 'cross-origin',
    // a browser refuses to open a sandboxed page that has one
    'Cross-Origin-Opener-Policy': undefined,
    'Origin-Agent-Cluster': undefined,
  },
);

/** A page with its own policy inside, which allows its script and style by their hashes: nothing is loaded at all. */
export const singlePageHeaders = (policy: string): Record<string, string> => ({
  ...forDocuments,
  'Content-Security-Policy': `${policy};frame-ancestors 'none'`,
  'Cross-Origin-Opener-Policy': 'same-origin',
});
