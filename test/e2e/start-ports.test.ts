import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { freePort } from '../../scripts/stack/ports.ts';
import { spawnTethered } from '../../scripts/stack/tether.ts';
import { type Addresses, baseUrl, onFreePorts } from '../../scripts/start/addresses.ts';
import { PortTaken, type Service, untilReady } from '../../scripts/start/service.ts';
import { jwtSecret } from '../support/settings.ts';
import { openStores, type StoreSettings } from '../support/stack.ts';

const signal = new AbortController().signal;

describe('the ports of npm start', () => {
  let env: StoreSettings;
  let folder: string;
  /** Listeners that let nobody in. */
  const thieves: ReturnType<typeof createServer>[] = [];

  beforeAll(async () => {
    ({ env } = await openStores());
    folder = mkdtempSync(path.join(inject('folder'), 'ports-'));
  });
  const started: Service[] = [];
  afterAll(async () => {
    for (const thief of thieves) thief.close();
    await Promise.all(started.map(({ tethered }) => tethered.stop()));
  });

  const take = async (port: number) => {
    const thief = createServer((socket) => socket.destroy());
    thieves.push(thief);
    thief.listen(port, '127.0.0.1');
    await once(thief, 'listening');
  };

  const start = (name: 'api' | 'worker', ports: Record<string, string>): Service => {
    const logFile = path.join(folder, `${name}-${Object.values(ports).join('-')}.log`);
    const tethered = spawnTethered(process.execPath, [path.join(inject('dist'), 'apps', name, 'main.js')], {
      env: { PATH: process.env.PATH, ...env, JWT_SECRET: jwtSecret, HOST: '127.0.0.1', ...ports, LOG_LEVEL: 'error' },
      logFile,
    });
    const service = { name, logFile, tethered };
    started.push(service);
    return service;
  };

  const startWorker = async ({ opsHost, workerOpsPort }: Addresses) => {
    const worker = start('worker', { OPS_PORT: String(workerOpsPort) });
    await untilReady(worker, baseUrl(opsHost, workerOpsPort), signal);
    return workerOpsPort;
  };

  it('may be lost between choosing and using them: then others are chosen', async () => {
    const lost: number[] = [];
    const port = await onFreePorts(async (addresses) => {
      if (lost.length < 2) {
        lost.push(addresses.workerOpsPort);
        await take(addresses.workerOpsPort);
      }
      return startWorker(addresses);
    });
    expect(lost).toHaveLength(2);
    expect(lost).not.toContain(port);
    expect((await fetch(`${baseUrl('127.0.0.1', port)}/readyz`)).status).toBe(200);
  });

  it.each(['PORT', 'OPS_PORT'])('of the API: that its %s is taken is known from every other failure', async (name) => {
    const [free, taken] = [await freePort(), await freePort()];
    await take(taken);
    const ports = { PORT: String(free), OPS_PORT: String(free), [name]: String(taken) };
    const url = baseUrl('127.0.0.1', Number(ports.OPS_PORT));
    await expect(untilReady(start('api', ports), url, signal)).rejects.toThrow(PortTaken);
  });

  it('are not tried again after another failure', async () => {
    let tries = 0;
    const failing = onFreePorts(async () => {
      tries += 1;
      await untilReady(start('worker', { OPS_PORT: 'x' }), 'http://127.0.0.1:1', signal);
    });
    await expect(failing).rejects.toThrow(/OPS_PORT must be/);
    expect(tries).toBe(1);
  });
});
