/** Visitors who ask to be erased, some of whom record again later, and in the end are nowhere (I10). */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { keysWith } from '../../stack/redis-keys.ts';
import { tablesWith } from '../../stack/tables-with.ts';
import { waitUntil } from '../../stack/wait.ts';
import type { Scene } from '../drill.ts';
import { callUntilDone } from './calls.ts';
import { type Clients, toErase, type Visit } from './clients.ts';
import { type Going, startLoop } from './loop.ts';
import type { Supervised } from './processes.ts';

/** milliseconds */
const pause = 300;
/** One of so many records again after the erasure. */
const returnsOneOf = 5;
/** Milliseconds: Redis rewrites its file once a minute at most. */
const patience = 240_000;

/** `erased` has each visitor once the erasure is answered, and when that was by `performance.now()`. */
export function startErasures(scene: Scene, apis: Supervised[], clients: Clients, erased: Map<string, number>): Going {
  const erase = async ({ site, visitorId }: Visit): Promise<void> => {
    const body = JSON.stringify({ visitorId });
    const path = '/v1/organization/visitors/erase';
    const answer = await callUntilDone(scene, apis, { site, scope: 'privacy', method: 'POST', path, body });
    scene.expect(answer.state === 'done', `the erasure of a visitor is answered ${JSON.stringify(answer)}`);
    erased.set(visitorId, performance.now());
    if (erased.size % returnsOneOf === 0) await clients.decide(site, visitorId);
  };
  const eraseNext = async (): Promise<void> => {
    for (let visit = clients.erasable.shift(); visit; visit = clients.erasable.shift()) await erase(visit);
  };
  const end = startLoop(scene, pause, eraseNext);

  return {
    end: async () => {
      await end();
      await eraseNext();
    },
    check: async () => {
      let left: string[] = [];
      const isNowhere = async () => {
        left = await placesWith(scene, toErase);
        return left.length === 0;
      };
      await waitUntil(isNowhere, { deadlineMs: patience, intervalMs: 3_000 });
      const what = `of ${erased.size} erased visitors something is left in ${left.join(', ')}`;
      scene.expect(left.length === 0, `I10: ${what}`);
      console.log(`${erased.size} visitors were erased`);
    },
  };
}

async function placesWith({ sql, redisDo, folder }: Scene, text: string): Promise<string[]> {
  const tables = await tablesWith({ run: sql }, text);
  const keys = await redisDo((redis) => keysWith(redis, text));
  return [...tables, ...keys, ...filesWith(path.join(folder, 'redis/appendonlydir'), text)];
}

const filesWith = (folder: string, text: string): string[] =>
  readdirSync(folder).filter((name) => readFileSync(path.join(folder, name)).includes(text));
