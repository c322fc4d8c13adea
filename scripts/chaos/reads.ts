/** Somebody who reads all the while: what is answered comes in time (I7), and is an answer that the service foresees. */
import { dayOf } from '#libs/base/terms/calendar';
import { callOnce } from './calls.ts';
import { type Activity, need, type Scene } from './scene.ts';
import { stoodStill } from './stalls.ts';

/** milliseconds */
const deadline = 5_000;

/** `foreseen`: the answers' status; 0 for none */
export function readAlong(scene: Scene, foreseen = [0, 200, 503]): Activity {
  const { sites, expect } = scene;
  let count = 0;
  return {
    pause: 100,
    work: async () => {
      const site = need(sites[count % sites.length]);
      const today = dayOf(Date.now());
      const path = need(
        [
          `/v1/consent/${site.domainId}/stats?from=${today}&to=${today}`,
          '/v1/consent/org-stats',
          `/v1/consent/${site.domainId}/records`,
          `/v1/consent/${site.domainId}/feed?limit=10`,
        ][Math.floor(count / sites.length) % 4],
      );
      count += 1;
      const api = scene.anyApi();
      const asked = performance.now();
      let requestId = '';
      const status = await callOnce(scene, { site, path }, api).then(
        async (response) => {
          await response.text();
          requestId = response.headers.get('x-request-id') ?? '';
          return response.status;
        },
        () => 0,
      );
      const milliseconds = Math.round(performance.now() - asked - stoodStill(asked));
      const when = new Date().toISOString();
      const what = `${path} was answered ${status} after ${milliseconds} ms at ${when} (request ${requestId})`;
      expect(milliseconds <= deadline || api.wasFrozenSince(asked), `I7: ${what}`);
      expect(foreseen.includes(status), what);
    },
    check: () => console.log(`${count} reads`),
  };
}
