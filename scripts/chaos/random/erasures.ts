/** Visitors who ask to be erased, some of whom record again later, and in the end are nowhere (I10). */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { keysWith, tablesWith } from '../../stack/places-with.ts';
import { waitUntil } from '../../stack/wait.ts';
import { callUntilDone } from '../calls.ts';
import { makeBody, toErase } from '../load.ts';
import { type Activity, need, type Scene } from '../scene.ts';
import { erasedBefore } from './history.ts';

/** After one erasure of so many that visitor records again, and so does one who was erased before the run. */
const returnsOneOf = 5;
/** Milliseconds: Redis rewrites its file once a minute at most. */
const patience = 240_000;

/** `erased` has each visitor once the erasure is answered, and when that was by `performance.now()`. */
export function eraseVisitors(scene: Scene, erased: Map<string, number>): Activity {
  const { sites, load } = scene;
  let count = 0;
  return {
    pause: 1_500,
    work: async () => {
      const site = need(sites[count % sites.length]);
      const visitorId = `${toErase}${count}`;
      await load.deliver(site, { ...makeBody(), visitorId });
      const path = '/v1/organization/visitors/erase';
      const call = { site, scope: 'privacy', method: 'POST', path, body: JSON.stringify({ visitorId }) };
      const { state } = JSON.parse(String(await callUntilDone(scene, call))) as { state: string };
      scene.expect(state === 'done', `the erasure of a visitor is answered ${state}`);
      erased.set(visitorId, performance.now());
      count += 1;
      if (count % returnsOneOf !== 0) return;
      await load.deliver(site, { ...makeBody(), visitorId });
      await load.deliver(scene.site, { ...makeBody(), visitorId: erasedBefore(count) });
    },
    check: async () => {
      let left: string[] = [];
      const isNowhere = async () => {
        left = await placesWith(scene, toErase);
        return left.length === 0;
      };
      await waitUntil(isNowhere, { deadlineMs: patience, intervalMs: 3_000 });
      const what = `of ${count} erased visitors something is left in ${left.join(', ')}`;
      scene.expect(left.length === 0 && count > 0, `I10: ${what}`);
      console.log(`${count} visitors were erased`);
    },
  };
}

async function placesWith({ sql, redisDo, redis }: Scene, text: string): Promise<string[]> {
  const tables = await tablesWith({ run: (work) => sql(work) }, text);
  const keys = await redisDo((client) => keysWith(client, text));
  const folder = path.join(redis.running().dataDir, 'appendonlydir');
  const files = readdirSync(folder).filter((name) => readFileSync(path.join(folder, name)).includes(text));
  return [...tables, ...keys, ...files];
}
