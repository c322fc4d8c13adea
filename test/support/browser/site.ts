/** A website: pages of its own on a port of its own, with the widget's tag where a test puts it. */
import { createServer } from 'node:http';
import { atEnd } from '../at-end.ts';
import type { Stack } from '../stack.ts';

declare global {
  interface Window {
    /** what a test's page has noted */
    seen?: unknown[];
    /** the record client of a test's page */
    client?: { record(report: object): string };
  }
}

export interface Site {
  port: number;
  /** under the name `localhost`, which is not that of the API */
  origin: string;
  /** Puts a page there and returns its address. */
  add(path: string, body: string, headers?: Record<string, string>): string;
}

interface File {
  body: string;
  headers: Record<string, string>;
}

export async function startSite(): Promise<Site> {
  const files = new Map<string, File>();
  const server = createServer(({ url = '' }, response) => {
    const file = files.get(url.replace(/[?#].*/, ''));
    // a browser asks for it by itself, and would report that it is missing
    const missing = url === '/favicon.ico' ? 204 : 404;
    response.writeHead(file ? 200 : missing, { 'content-type': 'text/html; charset=utf-8', ...file?.headers });
    response.end(file?.body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  atEnd(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  const origin = `http://localhost:${port}`;
  return {
    port,
    origin,
    add: (path, body, headers = {}) => {
      files.set(path, { body, headers });
      return origin + path;
    },
  };
}

type Attributes = Record<string, string>;

/** The tag as docs/widget.md has it. */
export function tag(
  { api, domainId, apiKey }: Pick<Stack, 'api' | 'domainId' | 'apiKey'>,
  attributes: Attributes = {},
) {
  const all = { src: `${api.baseUrl}/widget.js`, 'data-domain': domainId, 'data-key': apiKey, ...attributes };
  const written = Object.entries(all).map(([name, value]) => `${name}="${value}"`);
  return `<script ${written.join(' ')} defer></script>`;
}

/** `window.client`, with the lines that docs/widget.md has; `more`: further ones of the script. */
export const clientTag = (
  { api, domainId, apiKey }: Pick<Stack, 'api' | 'domainId' | 'apiKey'>,
  more = '',
): string => `<script type="module">
  import { createRecordClient } from '${api.baseUrl}/record-client.js';
  const client = createRecordClient({
    api: '${api.baseUrl}',
    domain: '${domainId}',
    key: '${apiKey}',
    onRecorded: (receipt, id) => console.log('recorded', id, receipt.id, receipt.status, receipt.ignored),
  });
  window.client = client;
  ${more}
</script>`;

/** `assentConfig`, before the tag. */
export const config = (settings: object): string => `<script>assentConfig = ${JSON.stringify(settings)}</script>`;

export const html = (head: string, body = '<h1>A page</h1>', attributes = 'lang="en"'): string =>
  `<!doctype html><html ${attributes}><head><meta charset="utf-8"><title>A page</title>${head}</head><body><main>${body}</main></body></html>`;
