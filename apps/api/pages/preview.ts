/** The page in which the dashboard shows the widget as it is being set up. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import type { Middleware } from '#libs/base/http/context';
import { sendPacked } from './send-packed.ts';

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
      const content = readFileSync(file);
      const hash = createHash('sha256').update(content).digest('hex').slice(0, 16);
      const packed = { content, zipped: gzipSync(content, { level: 9 }), hash };
      return [route, (ctx) => sendPacked(ctx, packed, type, 'no-cache')];
    }),
  );
}
