/** The page in which the dashboard shows the widget as it is being set up. */
import { readFileSync } from 'node:fs';
import type { Middleware } from '#libs/base/http/context';
import { eachTime, pack, sendPacked } from './send-packed.ts';

const own = (name: string) => new URL(`./public/preview/${name}`, import.meta.url);

/** Path → handler. */
export function preview({ build }: { build: URL }): Record<string, Middleware> {
  const files: [route: string, type: string, file: URL][] = [
    ['/widget-preview', 'text/html; charset=utf-8', own('preview.html')],
    ['/widget-preview/preview.css', 'text/css; charset=utf-8', own('preview.css')],
    ['/widget-preview/preview.js', 'text/javascript; charset=utf-8', new URL('widget/preview.js', build)],
  ];
  return Object.fromEntries(
    files.map(([route, type, file]) => {
      const packed = pack(readFileSync(file));
      return [route, (ctx) => sendPacked(ctx, packed, type, eachTime)];
    }),
  );
}
