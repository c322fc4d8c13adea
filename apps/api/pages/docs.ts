/** GET /openapi.json and /docs: the contract for machines and for people, from the project's own files. */
import { readFileSync } from 'node:fs';
import type { Middleware } from '#libs/base/http/context';
import { createOpenApi } from '../openapi.ts';
import { referencePage } from './reference/page.ts';
import { eachTime, packWhenAsked, sendPacked } from './send-packed.ts';

function serve(read: () => Uint8Array, type: string): Middleware {
  const file = packWhenAsked(read);
  return async (ctx) => sendPacked(ctx, await file(), type, eachTime);
}

export const openapi = ({ config }: { config: { publicUrl: string | undefined } }): Middleware =>
  serve(() => Buffer.from(JSON.stringify(createOpenApi(config.publicUrl))), 'application/json');

/** The page and its files. */
export const docs = ({ config }: { config: { publicUrl: string | undefined } }): Record<string, Middleware> => ({
  '/docs': serve(() => Buffer.from(referencePage(config.publicUrl)), 'text/html; charset=utf-8'),
  '/docs/docs.css': serve(() => read('docs.css'), 'text/css; charset=utf-8'),
  '/docs/docs.js': serve(() => read('docs.js'), 'text/javascript; charset=utf-8'),
});

const read = (name: string): Buffer => readFileSync(new URL(`./public/${name}`, import.meta.url));
