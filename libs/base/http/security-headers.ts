/**
 * What browsers may do with an answer. Answers to records have only `nosniff` and CORS, because pages of other sites read
 * them. Everything else is for this service's own pages and for programs.
 */
import helmet from 'koa-helmet';
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

interface Others {
  xFrameOptions?: { action: 'sameorigin' };
  crossOriginResourcePolicy?: { policy: 'cross-origin' };
  crossOriginOpenerPolicy?: false;
  originAgentCluster?: false;
}

/** The service's own pages load nothing from other origins, run no inline script and cannot be framed. */
const pageHeaders = (directives: Record<string, string[]>, others: Others = {}): Middleware =>
  helmet({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'none'"],
        scriptSrc: ["'self'"],
        connectSrc: ["'self'"],
        baseUri: ["'none'"],
        formAction: ["'none'"],
        frameAncestors: ["'none'"],
        ...directives,
      },
    },
    // TLS is the operator's decision
    strictTransportSecurity: false,
    ...others,
  });

export const docsHeaders = pageHeaders({ scriptSrc: ["'none'"], connectSrc: ["'none'"], styleSrc: ["'self'"] });
/** The shop embeds a film and a map of its own. */
export const demoHeaders = pageHeaders(
  { styleSrc: ["'self'"], imgSrc: ["'self'"], frameSrc: ["'self'"], frameAncestors: ["'self'"] },
  { xFrameOptions: { action: 'sameorigin' } },
);
/** `provider`: where people sign in. */
export const dashboardHeaders = (provider?: string): Middleware =>
  pageHeaders({
    styleSrc: ["'self'"],
    imgSrc: ["'self'"],
    frameSrc: ["'self'"],
    ...(provider !== undefined && { connectSrc: ["'self'", new URL(provider).origin] }),
  });

/**
 * The page in which the dashboard shows the widget. It runs foreign settings, so it has an origin of its own: it reaches
 * no storage, and sends nothing. Its own files are then from another origin.
 */
export const previewHeaders = pageHeaders(
  { styleSrc: ["'self'"], connectSrc: ["'none'"], frameAncestors: ["'self'"], sandbox: ['allow-scripts'] },
  {
    xFrameOptions: { action: 'sameorigin' },
    crossOriginResourcePolicy: { policy: 'cross-origin' },
    // a browser refuses to open a sandboxed page that has one
    crossOriginOpenerPolicy: false,
    originAgentCluster: false,
  },
);

/** A page with its own policy inside, which allows its script and style by their hashes: nothing is loaded at all. */
export const singlePageHeaders = (policy: string): Record<string, string> => ({
  ...forDocuments,
  'Content-Security-Policy': `${policy};frame-ancestors 'none'`,
  'Cross-Origin-Opener-Policy': 'same-origin',
});
