/**
 * GET /widget.js and its companions, each at two addresses: one follows the release within minutes; one contains the
 * content's hash, never changes, and outlives the release.
 */

import type { Context, Middleware } from '#libs/base/http/context';
import { forDocuments } from '#libs/base/http/security-headers';
import { Problem } from '#libs/base/terms/problem';
import { type WidgetFileName, widgetFileNames, widgetHashPattern } from '#libs/widget/files';
import { packPath } from '#libs/widget/languages';
import { atOnce, immutable, type PackedFile, revalidate, sendPacked } from './send-packed.ts';
import type { WidgetCache } from './widget-cache.ts';

/** Pages load these with tags of their own, and wait for them. */
const first = new Set<WidgetFileName>(['widget', 'consent-mode']);

/** Path → handler. */
export function widgetFiles({ widget }: { widget: WidgetCache }): Record<string, Middleware> {
  const current =
    (name: WidgetFileName): Middleware =>
    (ctx) =>
      serve(ctx, widget.current(name), 'text/javascript', first.has(name) ? atOnce : revalidate);
  const hashed =
    (name: WidgetFileName): Middleware =>
    async (ctx) => {
      const { hash } = ctx.params;
      const file = widgetHashPattern.test(hash) ? await widget.find(name, hash) : undefined;
      // another process may have it soon, during a rolling upgrade
      ctx.set('Cache-Control', 'no-store');
      if (!file) return absent(ctx);
      serve(ctx, file, 'text/javascript', immutable);
    };
  const texts: Middleware = async (ctx) => {
    const { hash, language } = ctx.params;
    const file = widgetHashPattern.test(hash) ? await widget.pack(hash, language) : undefined;
    ctx.set('Cache-Control', 'no-store');
    if (!file) return absent(ctx);
    serve(ctx, file, 'application/json', immutable);
  };
  return Object.fromEntries([
    ...widgetFileNames.flatMap((name): [string, Middleware][] => [
      [`/${name}.js`, current(name)],
      [`/${name}-:hash.js`, hashed(name)],
    ]),
    [packPath(':hash', ':language'), texts],
  ]);
}

/** An error is not a script, so it gets the headers of other errors. */
function absent(ctx: Context): never {
  ctx.set(forDocuments);
  throw new Problem('not_found', 'no release contains this file');
}

function serve(ctx: Context, file: PackedFile, type: string, caching: string): void {
  // any site may load it, also with an integrity attribute or as a module
  ctx.set({ 'Access-Control-Allow-Origin': '*', 'Cross-Origin-Resource-Policy': 'cross-origin' });
  sendPacked(ctx, file, `${type}; charset=utf-8`, caching);
}
