/** API processes that stop behind Caddy with the `Caddyfile` of the compose file, which holds idle connections to them. */
import https from 'node:https';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, inject, it } from 'vitest';
import { freePort } from '../../scripts/stack/ports.ts';
import { startCaddy } from '../support/caddy.ts';
import { startDialler } from '../support/dialler.ts';
import { type ApiProcess, startApiProcess } from '../support/service.ts';
import { at, useStack } from '../support/stack.ts';

const stack = await useStack();

/** As many idle connections as the proxy then has. */
const atOnce = 40;
const stops = 20;

it('refuse nothing, and end no connection that the proxy may still use', async () => {
  const ports = [await freePort(), await freePort()];
  const start = (port: number) => startApiProcess({ ...stack.env, TRUSTED_PROXY_HOPS: '1', PORT: String(port) });
  const running = new Map<number, ApiProcess>();
  for (const port of ports) running.set(port, await start(port));
  // between them: Debian's Caddy answers 502 itself where an address refuses a POST
  const dialler = await startDialler(ports);
  const caddy = await startCaddy(path.join(inject('folder'), 'caddy-of-stops'), String(dialler.port));

  const agent = new https.Agent({ ca: caddy.certificate, keepAlive: true, maxSockets: atOnce });
  const headers = { 'content-type': 'application/json', 'x-api-key': stack.apiKey };
  const record = () =>
    new Promise<number | string | undefined>((resolve) => {
      https
        .request(`${caddy.url}/v1/consent/${stack.domainId}/record`, { method: 'POST', agent, headers }, (response) => {
          response.resume().once('end', () => resolve(response.statusCode));
        })
        .once('error', (error) => resolve(error.message))
        .end('{"decision":"custom"}');
    });
  const responses: (number | string | undefined)[] = [];
  const recordAll = async (count: number) =>
    void responses.push(...(await Promise.all(Array.from({ length: count }, record))));

  for (let stop = 0; stop < stops; stop += 1) {
    const port = at(ports, stop % 2);
    await recordAll(atOnce);
    let isStopped = false;
    const stopping = running
      .get(port)
      ?.stop()
      .finally(() => {
        isStopped = true;
      });
    while (!isStopped) {
      await recordAll(4);
      await sleep(20);
    }
    await stopping;
    running.set(port, await start(port));
  }
  agent.destroy();
  expect(responses.filter((answer) => answer !== 202)).toEqual([]);
  // also while they stopped
  expect(responses.length).toBeGreaterThan(stops * atOnce);
  expect(dialler.endedUnasked()).toBe(0);
});
