/** The service below a path, behind real proxies with the lines that docs/operations.md has for them. */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, inject, it } from 'vitest';
import { readPage } from '#libs/log/domain-page';
import { findCaddy } from '../../../scripts/stack/packages.ts';
import { freePort } from '../../../scripts/stack/ports.ts';
import { startServer } from '../../../scripts/stack/server.ts';
import { atEnd } from '../../support/at-end.ts';
import { tokenFor } from '../../support/client.ts';
import { blocksOf } from '../../support/documents.ts';
import { startNginx } from '../../support/nginx.ts';
import { startApi } from '../../support/service.ts';
import { useStack } from '../../support/stack.ts';

const stack = await useStack();

/** What the document has for it, with the address of the API here. */
function linesFor(name: string, apiUrl: string): string {
  const block = blocksOf('docs/operations.md').find(({ text }) => text.startsWith(`# ${name}, in the `));
  if (!block?.text.includes('127.0.0.1:3000')) throw new Error(`docs/operations.md has nothing for ${name}`);
  return block.text.replace('127.0.0.1:3000', new URL(apiUrl).host);
}

async function startCaddyWith(port: number, lines: string): Promise<void> {
  const { binary, env } = await findCaddy();
  const dataDir = path.join(inject('folder'), 'caddy-below');
  mkdirSync(dataDir, { recursive: true });
  const file = path.join(dataDir, 'Caddyfile');
  writeFileSync(file, `{\n\tadmin off\n}\nhttp://localhost:${port} {\n${lines}}\n`);
  const { stop } = await startServer({
    name: 'Caddy',
    dataDir,
    port,
    command: binary,
    argumentsOf: () => ['run', '--config', file, '--adapter', 'caddyfile'],
    tether: { env: { ...env, HOME: dataDir, XDG_DATA_HOME: dataDir, XDG_CONFIG_HOME: dataDir } },
    urlOf: () => `http://localhost:${port}`,
    probe: (url) => fetch(url),
  });
  atEnd(stop);
}

const starts = {
  nginx: (port: number, server: string) =>
    startNginx({ dataDir: path.join(inject('folder'), 'nginx-below'), port, server }),
  Caddy: startCaddyWith,
};

const proxies = await Promise.all(
  Object.entries(starts).map(async ([name, start]) => {
    const port = await freePort();
    const baseUrl = `http://localhost:${port}/consent`;
    const { domainId, apiKey } = stack;
    const settings = { PUBLIC_URL: baseUrl, TRUSTED_PROXY_HOPS: '1', DEMO_DOMAIN: domainId, DEMO_API_KEY: apiKey };
    const api = await startApi({ ...stack.env, ...settings });
    await start(port, linesFor(name, api.baseUrl));
    return { name, baseUrl };
  }),
);

describe.each(proxies)('behind $name', ({ baseUrl }) => {
  // that the pages work below a path, test/browser/below-a-path.test.ts tests
  it.each(['/', '/docs', '/verify', '/demo'])('%s and what it names come from below the path', async (place) => {
    const page = await fetch(baseUrl + place, { headers: { accept: 'text/html' } });
    const addresses = [...(await page.text()).matchAll(/ (?:src|href)="([^"#]+)"/g)]
      .map(([, address = '']) => new URL(address, page.url))
      .filter(({ origin }) => origin === new URL(baseUrl).origin)
      .map(({ href }) => href);
    expect([page.status, addresses.filter((address) => !address.startsWith(`${baseUrl}/`))]).toEqual([200, []]);
    const statuses = await Promise.all(addresses.map(async (address) => (await fetch(address)).status));
    expect(statuses.filter((status) => status !== 200)).toEqual([]);
  });

  it('large files get through, and no visitor can say who they are', async () => {
    const { domainId, apiKey, tenant } = stack;
    const rows = `${JSON.stringify({ decision: 'custom', decidedAt: '2024-01-01T00:00:00Z' })}\n`.repeat(40_000);
    const imported = await fetch(`${baseUrl}/v1/consent/${domainId}/import?dryRun=true`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${tokenFor(tenant.organizationId, { scope: 'import' })}`,
        'content-type': 'application/x-ndjson',
      },
      body: rows,
    });
    expect([imported.status, await imported.json()]).toMatchObject([200, { read: 40_000, queued: 1 }]);
    const visitorId = `v-${baseUrl}`;
    const recorded = await fetch(`${baseUrl}/v1/consent/${domainId}/record`, {
      method: 'POST',
      headers: { 'x-api-key': apiKey, 'content-type': 'application/json', 'x-forwarded-for': '203.0.113.9' },
      body: JSON.stringify({ decision: 'accept_all', visitorId }),
    });
    expect(recorded.status).toBe(202);
    const { organizationId } = tenant;
    const found = () => stack.db.run((sql) => readPage(sql, { organizationId, domainId, visitorId, limit: 1 }));
    await expect.poll(async () => (await found()).records[0]?.ip).toBe('127.0.0.0');
  });
});
