/** The service behind a reverse proxy that has it below a path, which it takes off. */
import { once } from 'node:events';
import { request as ask, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { atEnd } from '../support/at-end.ts';
import { dashboardWorks, otherPagesWork } from '../support/browser/below-a-path.ts';
import { useDashboard } from '../support/browser/dashboard.ts';
import { startApi } from '../support/service.ts';
import { useStores } from '../support/stack.ts';
import { makeTenant } from '../support/stores.ts';

const base = '/own/consent';
const stores = useStores();
const { domainIds, apiKeys } = await makeTenant(stores.db);
/** What was asked for beside the path. */
const astray: string[] = [];
const proxy = createServer((request, response) => {
  const { url = '', method, headers } = request;
  if (!url.startsWith(`${base}/`)) {
    if (url !== '/favicon.ico') astray.push(url);
    return void response.writeHead(404).end();
  }
  const onward = ask(api.baseUrl + url.slice(base.length), { method, headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
  });
  request.pipe(onward);
});
proxy.listen(0);
await once(proxy, 'listening');
atEnd(() => {
  proxy.closeAllConnections();
  proxy.close();
});
const baseUrl = `http://localhost:${(proxy.address() as AddressInfo).port}${base}`;
const api = await startApi({
  ...stores.env,
  PUBLIC_URL: `${baseUrl}/`,
  DEMO_DOMAIN: String(domainIds[0]),
  DEMO_API_KEY: String(apiKeys[0]),
});
const dashboard = useDashboard({ api: { ...api, baseUrl } });

it('the dashboard works there, the reference has its style, the demo shop its banner, and proofs are checked', async () => {
  await dashboardWorks(dashboard, baseUrl);
  await otherPagesWork(dashboard, baseUrl, String(domainIds[0]));
  expect(astray).toEqual([]);
});
