/** Files that are imported again until all of their rows are taken, and exports that go on where they were cut off. */
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Site } from '../../stack/client.ts';
import { callOnce, callUntilDone, mostTries } from '../calls.ts';
import { type Body, makeBody } from '../load.ts';
import { type Activity, need, oneOfEach, type Scene } from '../scene.ts';

/** of one file */
const rows = 200;
/** milliseconds over which they are spread: also months that nobody else records in */
const span = 100 * 86_400_000;
/** milliseconds before an export goes on that was cut off, and an import is tried again */
const pauseAfterCut = 1_000;

/**
 * Two files side by side: half of the second one's rows are in the first, too, and in the opposite order. The rows are checked
 * with the records of the load: there once, as they were sent.
 */
export function importFiles(scene: Scene): Activity {
  const { sites, load } = scene;
  let files = 0;
  const makeRows = (length: number) =>
    Array.from({ length }, () => makeBody(Math.floor(Date.now() - Math.random() * span)));
  const importFile = async (site: Site, bodies: Body[]): Promise<void> => {
    files += 1;
    const note = (status: number) => {
      const attempt = { site, status, how: 'imported', milliseconds: 0, userAgent: null };
      load.attempts.push(...bodies.map((body) => ({ ...attempt, body })));
    };
    note(0);
    const body = bodies.map((each) => `${JSON.stringify(each)}\n`).join('');
    const path = `/v1/consent/${site.domainId}/import`;
    const call = { site, scope: 'import', method: 'POST', path, body, type: 'application/x-ndjson' };
    for (;;) {
      const { steps, wrong } = scene.clocks;
      const answer = String(await callUntilDone(scene, call));
      const { read, queued, known, rejected } = JSON.parse(answer) as Record<string, number>;
      const isWhole = read === rows && Number(queued) + Number(known) === rows && rejected === 0;
      // rows are refused whose time is to come, as the API's clock has it
      const mayBeRight = wrong > 0 || scene.clocks.steps > steps;
      scene.expect(isWhole || mayBeRight, `a file of ${rows} rows is answered ${answer}`);
      if (isWhole || !mayBeRight) break;
      await sleep(pauseAfterCut);
    }
    note(202);
  };
  let turn = 0;
  return {
    pause: 6_000,
    work: async () => {
      const site = need(sites[turn++ % sites.length]);
      const first = makeRows(rows);
      const second = [...first.slice(rows / 2), ...makeRows(rows / 2)].reverse();
      await Promise.all([importFile(site, first), importFile(site, second)]);
    },
    check: () => console.log(`${files} files of ${rows} rows were imported`),
  };
}

interface Line {
  id?: string;
  domainId?: string;
  end?: boolean;
}

export function exportRecords(scene: Scene): Activity {
  const sites = oneOfEach(scene);
  let [exported, cuts] = [0, 0];

  /** Adds what comes; true once the last line is there. */
  const read = async (site: Site, found: string[]): Promise<boolean> => {
    const after = found.length > 0 ? `&after=${found.at(-1)}` : '';
    const response = await callOnce(scene, { site, path: `/v1/organization/export?format=ndjson${after}` });
    if (!response.ok || !response.body) {
      await response.body?.cancel();
      return false;
    }
    for await (const text of createInterface({ input: Readable.fromWeb(response.body) })) {
      // the last one may be half a line
      const line: Line = JSON.parse(text);
      if (line.end) return true;
      found.push(`${line.domainId}/${line.id}`);
    }
    return false;
  };

  const exportOf = async (site: Site): Promise<void> => {
    const before = await listStored(scene, site).catch(() => []);
    const found: string[] = [];
    for (let tries = 1; !(await read(site, found).catch(() => false)); tries += 1) {
      scene.signal.throwIfAborted();
      if (tries === mostTries) throw new Error(`an export was not complete after ${tries} tries`);
      cuts += 1;
      await sleep(pauseAfterCut);
    }
    const places = new Set(found);
    const missing = before.filter((place) => !places.has(place)).length;
    scene.expect(places.size === found.length, `an export has ${found.length - places.size} records twice`);
    scene.expect(missing === 0, `an export lacks ${missing} of ${before.length} records`);
    exported += 1;
  };

  return {
    pause: 3_000,
    work: () => exportOf(need(sites[exported % sites.length])),
    check: async () => {
      for (const site of sites) await exportOf(site);
      console.log(`${exported} exports were complete, which were cut off or refused ${cuts} times`);
    },
  };
}

/** As `after` names them. */
const listStored = async ({ sql }: Scene, { organizationId }: Site): Promise<string[]> => {
  const rows = await sql(
    (connected) => connected<{ place: string }[]>`
      select d.id || '/' || r.id as place from records r join domains d on d.number = domain_number
      where organization_id = ${organizationId}`,
  );
  return rows.map(({ place }) => place);
};
