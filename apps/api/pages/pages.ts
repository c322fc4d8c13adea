/** The service's own pages and scripts, each with the headers that browsers need for it. */
import { readFileSync } from 'node:fs';
import type Router from '@koa/router';
import type { Middleware, State } from '#libs/base/http/context';
import { deadline } from '#libs/base/http/deadline';
import { guard } from '#libs/base/http/guard';
import {
  dashboardHeaders,
  demoHeaders,
  docsHeaders,
  documentHeaders,
  previewHeaders,
  singlePageHeaders,
} from '#libs/base/http/security-headers';
import type { SignIn } from '#libs/tenants/contract';
import type { Deps } from '../deps.ts';
import { createOpenApi } from '../openapi.ts';
import { bannerScript } from './banner.ts';
import { dashboard } from './dashboard.ts';
import { demoPage } from './demo.ts';
import { referencePage } from './reference/page.ts';
import { pack, packWhenAsked, revalidate, sendPacked } from './send-packed.ts';
import { widgetFiles } from './widget.ts';

type Pages = Record<string, Middleware>;

const html = 'text/html; charset=utf-8';
const css = 'text/css; charset=utf-8';
const javascript = 'text/javascript; charset=utf-8';

export function addPages(router: Router<State>, deps: Deps): void {
  const { publicUrl, oidc } = deps.config;
  const add = (pages: Pages, ...before: Middleware[]) => {
    for (const [path, serve] of Object.entries(pages)) router.get(path, ...before, serve);
  };
  const openapi = lazyFile(() => Buffer.from(JSON.stringify(createOpenApi(publicUrl))), 'application/json');
  add({ '/openapi.json': openapi, '/v1/sign-in': signInOptions(deps) }, documentHeaders);
  add(reference(publicUrl), docsHeaders);
  add(dashboard(deps), dashboardHeaders(oidc?.issuer));
  add(widgetPreview(deps.build), previewHeaders);
  add({ '/verify': verifyPage(deps.build) });
  add({ ...widgetFiles(deps), '/w/:domainId.js': bannerScript(deps) }, deadline);
  add(demoPage(deps), demoHeaders, deadline);
}

const readPublic = (name: string): Buffer => readFileSync(new URL(`./public/${name}`, import.meta.url));

function lazyFile(read: () => Uint8Array, type: string): Middleware {
  const file = packWhenAsked(read);
  return async (ctx) => sendPacked(ctx, await file(), type, revalidate);
}

function file(content: Buffer, type: string): Middleware {
  const packed = pack(content);
  return (ctx) => sendPacked(ctx, packed, type, revalidate);
}

/** How people can sign in to the dashboard. Nothing in it is secret. */
const signInOptions = ({ config: { oidc }, accounts }: Pick<Deps, 'config' | 'accounts'>): Middleware =>
  guard({}, (ctx) => {
    const options: SignIn = { oidc, accounts: accounts !== undefined };
    ctx.body = options;
  });

/** The OpenAPI document as a page. */
const reference = (publicUrl: string | undefined): Pages => ({
  '/docs': lazyFile(() => Buffer.from(referencePage(publicUrl)), html),
  '/docs/docs.css': lazyFile(() => readPublic('docs.css'), css),
  '/docs/docs.js': lazyFile(() => readPublic('docs.js'), javascript),
});

/** The page in which the dashboard previews the widget. */
const widgetPreview = (build: URL): Pages => ({
  '/widget-preview': file(readPublic('preview/preview.html'), html),
  '/widget-preview/preview.css': file(readPublic('preview/preview.css'), css),
  '/widget-preview/preview.js': file(readFileSync(new URL('widget/preview.js', build)), javascript),
});

/** The page that checks proofs: one file, which people may also save and open from disk. */
function verifyPage(build: URL): Middleware {
  const content = readFileSync(new URL('verify/index.html', build));
  const serve = file(content, html);
  const headers = singlePageHeaders(policyIn(content.toString()));
  return (ctx, next) => {
    ctx.set(headers);
    return serve(ctx, next);
  };
}

function policyIn(page: string): string {
  const [, policy] = /<meta http-equiv="Content-Security-Policy" content="([^"]+)">/.exec(page) ?? [];
  if (!policy) throw new Error('the page that checks proofs was built without its policy');
  return policy;
}
