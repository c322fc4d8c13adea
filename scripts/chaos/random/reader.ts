/** Somebody who reads all the while: what is answered comes in time (I7), and is an answer that the service foresees. */
import type { Scene } from '../drill.ts';
import { callOnce } from './calls.ts';
import { anyOf } from './clients.ts';
import { type Going, startLoop } from './loop.ts';
import type { Supervised } from './processes.ts';

/** milliseconds */
const pause = 200;
const deadline = 5_000;
const foreseen = [200, 503];

export function startReader(scene: Scene, apis: Supervised[]): Going {
  const { sites, expect } = scene;
  let count = 0;
  const readNext = async (): Promise<void> => {
    const site = sites[count++ % sites.length];
    if (!site) throw new Error('there is no site');
    const { domainId } = site;
    const today = new Date().toISOString().slice(0, 10);
    const paths = [
      `/v1/consent/${domainId}/stats?from=${today}&to=${today}`,
      '/v1/consent/org-stats',
      `/v1/consent/${domainId}/records`,
      `/v1/consent/${domainId}/feed?limit=10`,
    ];
    const path = paths[Math.floor(count / sites.length) % paths.length] ?? '';
    const api = anyOf(apis);
    const started = performance.now();
    const status = await callOnce(scene, api.baseUrl(), { site, scope: 'read', path }).then(
      async (response) => {
        await response.text();
        return response.status;
      },
      () => 0,
    );
    const milliseconds = performance.now() - started - api.frozenSince(started);
    expect(
      milliseconds <= deadline,
      `I7: ${path} of ${api.name} took ${Math.round(milliseconds)} ms (${status}) at ${new Date().toISOString()}`,
    );
    expect(status === 0 || foreseen.includes(status), `${path} is answered ${status}`);
  };
  const end = startLoop(scene, pause, readNext);
  return { end, check: async () => console.log(`${count} reads`) };
}
