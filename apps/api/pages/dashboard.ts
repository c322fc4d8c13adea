/**
 * The dashboard: one HTML page for all its paths, revalidated on each visit, and assets with a hash in their name. The page
 * contains no figures: the browser reads them from the public endpoints, with its token.
 */
import { readdirSync, readFileSync } from 'node:fs';
import type { Context, Middleware } from '#libs/base/http/context';
import { escapeHtml } from '#libs/base/http/html';
import { forDocuments } from '#libs/base/http/security-headers';
import { dashboardPages, invitationPath, pageParams, setupPath, signInPath } from '#libs/base/terms/dashboard-pages';
import { Problem } from '#libs/base/terms/problem';
import { dimensions } from '#libs/base/terms/terms';
import type { SignIn } from '#libs/tenants/contract';
import type { ApiConfig } from '../../settings/api.ts';
import { immutable, type PackedFile, pack, revalidate, sendPacked } from './send-packed.ts';

const types: Record<string, string> = {
  css: 'text/css; charset=utf-8',
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
};

type Config = Pick<SignIn, 'oidc'> & Pick<ApiConfig, 'basePath' | 'demo'>;

interface Parts {
  build: URL;
  config: Config;
  /** undefined if people have no accounts */
  accounts: { publicUrl: string } | undefined;
}

interface File extends PackedFile {
  type: string;
  caching: string;
}

function readBuilt(file: URL, caching: string, change = (content: Buffer) => content): File {
  const type = types[file.pathname.split('.').at(-1) ?? ''] ?? 'application/octet-stream';
  return { type, caching, ...pack(change(readFileSync(file))) };
}

/**
 * Adds what the page cannot ask for: base path, demo domain, and how people sign in (a provider, or accounts and their
 * address). If either is set, the page asks before a token in a link opens a session.
 */
const adapted = (html: Buffer, { config: { basePath: base, oidc, demo }, accounts }: Parts): Buffer => {
  const attributes = [
    base && ` data-base="${escapeHtml(base)}"`,
    oidc && ' data-sign-in="provider"',
    accounts && ` data-accounts="${escapeHtml(accounts.publicUrl)}"`,
    demo && ` data-demo="${escapeHtml(demo.domainId)}"`,
  ]
    .filter(Boolean)
    .join('');
  return Buffer.from(
    html
      .toString()
      .replace('<html lang="en">', `<html lang="en"${attributes}>`)
      .replaceAll('="./assets/', `="${escapeHtml(base)}/assets/`),
  );
};

/** The messages for invalid path parameters. */
const invalid: Record<string, string> = {
  domainId: 'this is not a valid domain id',
  by: 'records are not grouped by this',
  which: 'this is not a valid webhook id',
  erasureId: 'this is not a valid erasure id',
};

/** Path → handler. Every other path is a 404. */
export function dashboard(parts: Parts): Record<string, Middleware> {
  const { build } = parts;
  const html = readBuilt(new URL('dashboard/index.html', build), revalidate, (page) => adapted(page, parts));
  const folder = new URL('dashboard/assets/', build);
  const assets = new Map(readdirSync(folder).map((name) => [name, readBuilt(new URL(name, folder), immutable)]));
  const page: Middleware = (ctx) => {
    const isDimension = dimensions.some((each) => each === ctx.params.by);
    for (const [name, value] of Object.entries(ctx.params))
      if (!pageParams[name]?.test(String(value)) || (name === 'by' && !isDimension)) absent(ctx, invalid[name] ?? '');
    send(ctx, html);
  };
  const asset: Middleware = (ctx) => {
    const file = assets.get(ctx.params.file);
    if (!file) return absent(ctx, 'this release has no such file');
    send(ctx, file);
  };
  const paths = [...Object.values(dashboardPages).map(({ path }) => path), signInPath, setupPath, invitationPath];
  return { ...Object.fromEntries(paths.map((path) => [path, page])), '/assets/:file': asset };
}

function absent(ctx: Context, detail: string): never {
  ctx.set({ ...forDocuments, 'Cache-Control': 'no-store' });
  throw new Problem('not_found', detail);
}

const send = (ctx: Context, file: File): void => sendPacked(ctx, file, file.type, file.caching);
