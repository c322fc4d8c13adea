/** GET /openapi.json and /docs: the contract for machines and for people, from the project's own files. */
import { readFileSync } from 'node:fs';
import { createOpenApi } from '#libs/contract/openapi/document';
import type { Middleware } from '../http/context.ts';

export function openapi(): Middleware {
  const document = JSON.stringify(createOpenApi());
  return async (ctx) => {
    ctx.type = 'application/json';
    ctx.body = document;
  };
}

const own = (name: string) => new URL(`./public/${name}`, import.meta.url);
const vendored = (name: string) => new URL(import.meta.resolve(`swagger-ui-dist/${name}`));

/** The page and its files, each read once. */
export function docs(): Record<string, Middleware> {
  const files: [route: string, type: string, file: URL][] = [
    ['/docs', 'text/html', own('docs.html')],
    ['/docs/docs.js', 'text/javascript', own('docs.js')],
    ['/docs/swagger-ui.css', 'text/css', vendored('swagger-ui.css')],
    ['/docs/swagger-ui-bundle.js', 'text/javascript', vendored('swagger-ui-bundle.js')],
    ['/docs/favicon-32x32.png', 'image/png', vendored('favicon-32x32.png')],
  ];
  return Object.fromEntries(
    files.map(([route, type, file]) => {
      const content = readFileSync(file);
      const serve: Middleware = async (ctx) => {
        ctx.type = type;
        ctx.set('Cache-Control', 'public, max-age=3600');
        ctx.body = content;
      };
      return [route, serve];
    }),
  );
}
