/** Files that are imported, and sent again until the service has taken all of their rows. */
import type { Scene } from '../drill.ts';
import { makeBody } from '../load.ts';
import { callUntilDone } from './calls.ts';
import { type Going, startLoop } from './loop.ts';
import type { Supervised } from './processes.ts';

/** milliseconds between two files */
const pause = 6_000;
const rows = 400;
/** milliseconds over which the rows are spread: also months that nobody else records in */
const span = 100 * 86_400_000;

/** Their rows are checked with the records of all clients: there once, as they were sent. */
export function startImports(scene: Scene, apis: Supervised[]): Going {
  const { sites, load, expect } = scene;
  let files = 0;
  const importNext = async (): Promise<void> => {
    const site = sites[files++ % sites.length];
    if (!site) throw new Error('there is no site');
    const bodies = Array.from({ length: rows }, () => makeBody(Math.floor(Date.now() - Math.random() * span)));
    const result = { status: 200, how: 'imported', milliseconds: 0 };
    for (const body of bodies) load.attempts.push({ site, body, outcome: 'unknown', ...result });
    const file = bodies.map((body) => `${JSON.stringify(body)}\n`).join('');
    const path = `/v1/consent/${site.domainId}/import`;
    const upload = { site, scope: 'import', method: 'POST', path, body: file, type: 'application/x-ndjson' };
    const { read, queued, known, rejected } = await callUntilDone(scene, apis, upload);
    const isWhole = read === rows && Number(queued) + Number(known) === rows;
    expect(isWhole && rejected === 0, `${rows} rows: ${JSON.stringify({ read, queued, known, rejected })}`);
    for (const body of bodies) load.attempts.push({ site, body, outcome: 'acknowledged', ...result });
  };
  const end = startLoop(scene, pause, importNext);
  return { end, check: async () => console.log(`${files} files of ${rows} rows were imported`) };
}
