import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import path from 'node:path';
import { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { z } from 'zod';
import { dayOf } from '#libs/contract/calendar';
import type { Site } from '../../stack/client.ts';
import { waitUntil } from '../../stack/wait.ts';
import { atMost, type Figures } from '../figures.ts';
import type { Measurement } from '../measurement.ts';
import { peakMemory, residentMemory } from '../memory.ts';
import { persistAlone } from '../programs.ts';
import type { Server, Stack } from '../stack.ts';

const day = 86_400_000;
const days = 80;
const importCounts = z.object({ queued: z.number(), known: z.number(), rejected: z.number() });

/** Once: it takes minutes, and what counts is what is there in the end. */
export const roundTrip: Measurement = {
  name: 'round-trip',
  about: "two million records exported; half of them imported by another organization: what differs; API's memory",
  figure: async (stack, { records }) => {
    const [[from], [to]] = [await stack.makeSites(1), await stack.makeSites(1)];
    if (!from || !to) throw new Error('there are no domains');
    const [api] = await Promise.all([stack.startApi(), stack.startWorker()]);
    const today = Date.now();
    await persistAlone(stack, { records: records * 10, domainIds: [from.domainId], span: [today - days * day, today] });
    await stack.db.run((sql) => sql`vacuum (analyze) records`);
    const half = dayOf(today - (days / 2) * day);
    const file = path.join(stack.folder, 'export.ndjson');
    const before = residentMemory(api.pid);
    const whole = await download(stack, api, from, '');
    const memory = peakMemory(api.pid);
    const part = await download(stack, api, from, `?to=${half}`, file);
    const first = await importFile(stack, to, file);
    const again = await importFile(stack, to, file);
    const different = await differences(stack, from, to, half);
    const counters = await countersDiffer(stack, from, to, half);
    await untilNothingOwed(stack);
    const figures: Figures = {
      'round-trip: exported': { value: whole.lines - 1, unit: 'records' },
      'round-trip: export': { value: (whole.lines - 1) / whole.seconds, unit: 'records/s' },
      'round-trip: export, size': { value: whole.bytes / 1e6, unit: 'MB' },
      'round-trip: API, memory before': { value: before / 1e6, unit: 'MB' },
      'round-trip: API, peak memory': { value: memory / 1e6, unit: 'MB' },
      'round-trip: imported': { value: first.queued, unit: 'records' },
      'round-trip: import': { value: first.queued / first.seconds, unit: 'records/s' },
      'round-trip: not imported': { value: part.lines - 1 - first.queued, unit: 'records' },
      'round-trip: different fields': { value: different, unit: 'records' },
      'round-trip: different counters': { value: counters, unit: 'counters' },
      'round-trip: again, new': { value: again.queued, unit: 'records' },
      'round-trip: again, known': { value: again.known, unit: 'records' },
      'round-trip: again': { value: again.known / again.seconds, unit: 'records/s' },
    };
    return async () => figures;
  },
  targets: {
    'round-trip: API, peak memory': atMost(250),
    'round-trip: not imported': atMost(0),
    'round-trip: different fields': atMost(0),
    'round-trip: different counters': atMost(0),
    'round-trip: again, new': atMost(0),
  },
};

const newline = 0x0a;
const nowhere = () => new Writable({ write: (_, __, done) => done() });

async function download(
  { token }: Stack,
  { baseUrl }: Server,
  { domainId, organizationId }: Site,
  query: string,
  file?: string,
): Promise<{ lines: number; bytes: number; seconds: number }> {
  const began = performance.now();
  const headers = { authorization: `Bearer ${token(organizationId)}` };
  const [response]: IncomingMessage[] = await once(
    get(`${baseUrl}/v1/consent/${domainId}/export${query}`, { headers }),
    'response',
  );
  if (response?.statusCode !== 200) throw new Error(`export answered ${response?.statusCode}`);
  const counts = { lines: 0, bytes: 0 };
  const count = async function* (chunks: AsyncIterable<Buffer>) {
    for await (const chunk of chunks) {
      counts.bytes += chunk.length;
      for (let at = chunk.indexOf(newline); at !== -1; at = chunk.indexOf(newline, at + 1)) counts.lines += 1;
      yield chunk;
    }
  };
  await pipeline(response, count, file === undefined ? nowhere() : createWriteStream(file));
  return { ...counts, seconds: (performance.now() - began) / 1_000 };
}

async function importFile({ cli }: Stack, { domainId }: Site, file: string) {
  const began = performance.now();
  const counts = importCounts.parse(JSON.parse(await cli('--json', 'records', 'import', file, '--domain', domainId)));
  if (counts.rejected > 0) throw new Error(`${counts.rejected} rows were rejected`);
  return { ...counts, seconds: (performance.now() - began) / 1_000 };
}

/** Records, of either side, that the other has not, or not with the same fields; throws with an example. */
async function differences({ db }: Stack, from: Site, to: Site, until: string): Promise<number> {
  const rows = await db.run(
    (sql) => sql<{ id: string; one: string; other: string }[]>`
      with kept as materialized (
        select domains.id as domain, r.id, received_at, user_agents.text, decision, bot, gpc, visitor_id, preferences,
          banner_version, policy_version, language, page_url, country, ip, tc_string, gpp_string, metadata, notice_number,
          variant, source
        from records r join domains on domains.number = domain_number
        left join user_agents on user_agents.number = user_agent_number
        where domains.id in (${from.domainId}, ${to.domainId})
          and r.id < id_at((${until}::date + 1)::timestamp at time zone 'UTC')
      ),
      one as (select id, to_jsonb(kept) - 'domain' - 'source' as fields from kept where domain = ${from.domainId}),
      other as (
        select id, to_jsonb(kept) - 'domain' - 'source' as fields, source from kept where domain = ${to.domainId}
      )
      select id, one.fields::text as one, other.fields::text as other
      from one full join other using (id)
      where one.fields is distinct from other.fields or source <> 'import'`,
  );
  const [example] = rows;
  if (example) throw new Error(`${rows.length} records differ, such as ${JSON.stringify(example)}`);
  return rows.length;
}

/** By day and decision, as both count them. */
async function countersDiffer({ db }: Stack, from: Site, to: Site, until: string): Promise<number> {
  const [row] = await db.run(
    (sql) => sql<{ differing: number }[]>`
      with kept as (
        select domain_id as domain, period, accept_all, reject_all, custom, withdraw from counters
        where domain_id in (${from.domainId}, ${to.domainId}) and length(period) = 10 and period <= ${until}
      )
      select count(*) as differing
      from (select * from kept where domain = ${from.domainId}) as one
      full join (select * from kept where domain = ${to.domainId}) as other using (period)
      where to_jsonb(one) - 'domain' is distinct from to_jsonb(other) - 'domain'`,
  );
  return row?.differing ?? Number.NaN;
}

/** The worker raises what the command line stored. */
async function untilNothingOwed({ db }: Stack): Promise<void> {
  const isNothing = async () => (await db.run((sql) => sql`select from owed_raises limit 1`)).length === 0;
  if (!(await waitUntil(isNothing, { deadlineMs: 120_000 }))) throw new Error('counters stay owed');
}
