/**
 * What browsers may do with an answer. Answers to records have only `nosniff` and CORS: other sites' pages are their
 * readers. Everything else is for this service's own pages and for programs.
 */
import helmet from 'koa-helmet';
import type { Middleware } from './context.ts';

export const forDocuments = {
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'X-Frame-Options': 'DENY',
};

/** JSON: nothing in it is ever run, shown in a frame or loaded by another site. */
export const documentHeaders: Middleware = (ctx, next) => {
  ctx.set(forDocuments);
  return next();
};

/** A read's answer is its caller's alone. */
export const readHeaders: Middleware = (ctx, next) => {
  ctx.set('Cache-Control', 'no-store');
  return documentHeaders(ctx, next);
};

/** A page of the service itself loads nothing from elsewhere, runs nothing inline and is framed by nobody. */
const pageHeaders = (directives: Record<string, string[]>): Middleware =>
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
    // whether there is TLS in front is the operator's matter
    strictTransportSecurity: false,
  });

// Swagger UI sets style attributes and inlines its icons
export const docsHeaders = pageHeaders({ styleSrc: ["'self'", "'unsafe-inline'"], imgSrc: ["'self'", 'data:'] });
export const demoHeaders = pageHeaders({ styleSrc: ["'self'"], imgSrc: ["'self'"] });
export const dashboardHeaders = pageHeaders({ styleSrc: ["'self'"], imgSrc: ["'self'"] });
