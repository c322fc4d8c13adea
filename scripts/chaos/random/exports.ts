/** Exports that go on where they were cut off, and have every record once. */
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Site } from '../../stack/client.ts';
import type { Scene } from '../drill.ts';
import { callOnce, mostTries } from './calls.ts';
import { anyOf } from './clients.ts';
import { type Going, startLoop } from './loop.ts';
import type { Supervised } from './processes.ts';

/** milliseconds between two exports, and before one that was cut off goes on */
const pause = 3_000;
const pauseAfterCut = 1_000;

interface Line {
  id?: string;
  domainId?: string;
  end?: boolean;
}

export function startExports(scene: Scene, apis: Supervised[]): Going {
  const sites = [...new Map(scene.sites.map((site) => [site.organizationId, site])).values()];
  let exported = 0;
  let cuts = 0;

  /** Adds what comes; true once the last line is there. */
  const read = async (site: Site, found: string[]): Promise<boolean> => {
    const after = found.length > 0 ? `&after=${found.at(-1)}` : '';
    const path = `/v1/organization/export?format=ndjson${after}`;
    const response = await callOnce(scene, anyOf(apis).baseUrl(), { site, scope: 'read', path });
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
    const before = await storedOf(scene, site).catch(() => []);
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

  const exportNext = async (): Promise<void> => {
    const site = sites[exported % sites.length];
    if (site) await exportOf(site);
  };
  const end = startLoop(scene, pause, exportNext);
  return {
    end,
    check: async () => {
      for (const site of sites) await exportOf(site);
      console.log(`${exported} exports were complete, which were cut off or refused ${cuts} times`);
    },
  };
}

/** As `after` names them. */
const storedOf = async ({ sql }: Scene, { organizationId }: Site): Promise<string[]> => {
  const rows = await sql(
    (connected) => connected<{ place: string }[]>`
      select d.id || '/' || r.id as place from records r join domains d on d.number = domain_number
      where organization_id = ${organizationId}`,
  );
  return rows.map(({ place }) => place);
};
