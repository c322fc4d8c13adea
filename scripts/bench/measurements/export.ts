import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { exportFormats } from '#libs/contract/terms';
import type { Site } from '../../stack/client.ts';
import { figuresBetween, look } from '../cpu-time.ts';
import { atLeast, atMost, type Figures } from '../figures.ts';
import type { Measurement } from '../measurement.ts';
import { peakMemory } from '../memory.ts';
import { load, persistAlone, startLoad, stringifyAlone } from '../programs.ts';
import { makeSealSettings, untilSealed } from '../sealed.ts';
import type { Server, Stack } from '../stack.ts';

/** of three months, as a large export would have */
const span = 90 * 86_400_000;
/** seconds of a load whose latencies are not counted */
const warmUp = 1;

/** Exports over HTTP beside `copy` of the same rows and columns; their reader, and that of `copy`, is this process. */
export const exports: Measurement = {
  name: 'export',
  about: 'records/s exported ÷ copy of the same rows; csv-stringify instead; memory; recording meanwhile',
  figure: async (stack, { records, seconds }) => {
    const worker = stack.startWorker(makeSealSettings());
    const [site] = await stack.makeSites(1);
    if (!site) throw new Error('there is no domain');
    const now = Date.now();
    await persistAlone(stack, { records, domainIds: [site.domainId], span: [now - span, now] });
    await Promise.all([worker, untilSealed(stack, site.domainId)]);
    await stack.db.run((sql) => sql`vacuum (analyze) records, log_runs`);
    const count = await countOf(stack, site);
    const rate = Math.round((await mostRecorded(stack, seconds)) / 2);
    const api = await stack.startApi();
    const pids = { API: api.pid, Postgres: stack.pids.Postgres };
    await readAll(stack, api, site, 'csv');
    const send = { baseUrl: api.baseUrl, send: { sites: stack.sites }, rate, warmUp };
    const p99Alone = async () => (await load({ ...send, seconds })).p99;
    const p99Beside = async () => {
      const beside = startLoad({ ...send, seconds });
      let isOver = false;
      const over = beside.result.finally(() => {
        isOver = true;
      });
      while (!isOver) await readAll(stack, api, site, 'ndjson', () => isOver);
      const { p99, failed } = await over;
      if (failed > 0) throw new Error(`${failed} records were not acknowledged`);
      return p99;
    };
    let round = 0;
    return async () => {
      const figures: Figures = {};
      for (const format of exportFormats) {
        const before = look(0, pids);
        const lines = await readAll(stack, api, site, format);
        // a header, or the line that ends it
        if (lines !== count + 1) throw new Error(`${lines} lines for ${count} records`);
        Object.assign(figures, figuresBetween(`export: ${format}`, before, look(count, pids)));
      }
      Object.assign(
        figures,
        await stringifyAlone({
          databaseUrl: stack.databaseUrl,
          domainId: site.domainId,
          records: count,
          postgres: stack.pids.Postgres,
        }),
      );
      round += 1;
      const early = round % 2 === 0 ? await p99Beside() : undefined;
      const alone = await p99Alone();
      const beside = early ?? (await p99Beside());
      await stack.untilQuiet();
      return {
        ...figures,
        'export: API, peak memory': { value: peakMemory(api.pid) / 1e6, unit: 'MB' },
        'export: recorded meanwhile': { value: rate, unit: 'records/s' },
        'export: recording meanwhile, p99': { value: beside, unit: 'ms' },
        'export: recording without, p99': { value: alone, unit: 'ms' },
        'export: recording, p99 ÷ without': { value: beside / alone, unit: '' },
      };
    };
  },
  reference: async (stack) => async () => {
    const pids = { Postgres: stack.pids.Postgres };
    const before = look(0, pids);
    const lines = await copyAll(stack);
    const after = look(lines, pids);
    return Object.assign({}, ...exportFormats.map((format) => figuresBetween(`export: ${format}`, before, after)));
  },
  targets: {
    'export: csv': atLeast(0.4),
    'export: ndjson': atLeast(0.4),
    'export: API, peak memory': atMost(250),
    'export: recording, p99 ÷ without': atMost(1.5),
  },
};

/** Records a second, beside a worker that stores them. By an API of its own, whose memory is not looked at. */
async function mostRecorded(stack: Stack, seconds: number): Promise<number> {
  const { baseUrl, stop } = await stack.startApi();
  const result = await load({ baseUrl, send: { sites: stack.sites }, seconds });
  await stack.untilQuiet();
  await stop();
  return result.answered / result.seconds;
}

async function countOf({ db }: Stack, { domainId }: Site): Promise<number> {
  const [row] = await db.run(
    (sql) => sql<{ count: number }[]>`
      select count(*) from records where domain_number = (select number from domains where id = ${domainId})`,
  );
  return row?.count ?? 0;
}

/** Reads an export without keeping it, until `isEnough`; returns how many lines it has. */
async function readAll(
  stack: Stack,
  { baseUrl }: Server,
  { domainId, organizationId }: Site,
  format: string,
  isEnough = () => false,
): Promise<number> {
  const headers = { authorization: `Bearer ${stack.token(organizationId)}` };
  const request = get(`${baseUrl}/v1/consent/${domainId}/export?format=${format}`, { headers });
  const [response]: IncomingMessage[] = await once(request, 'response');
  if (response?.statusCode !== 200) throw new Error(`export answered ${response?.statusCode}`);
  return countLines(response, isEnough);
}

const newline = 0x0a;

async function countLines(chunks: AsyncIterable<Buffer>, isEnough = () => false): Promise<number> {
  let lines = 0;
  for await (const chunk of chunks) {
    for (let at = chunk.indexOf(newline); at !== -1; at = chunk.indexOf(newline, at + 1)) lines += 1;
    if (isEnough()) break;
  }
  return lines;
}

/**
 * The rows and columns of an export of the newest domain in Postgres' own form, as fast as one statement gives them: in no
 * order, and with positions joined as a set.
 */
function copyAll({ db }: Stack): Promise<number> {
  return db.run(async (sql) => {
    const [domain] = await sql<{ number: number }[]>`select max(number) as number from domains`;
    const readable = await sql
      .unsafe(`
        copy (
          select r.id, domains.id, r.decision, to_timestamp(milliseconds_of(r.id) / 1000.0), r.received_at, r.visitor_id,
            r.preferences, r.source, r.banner_version, r.policy_version, r.language, r.page_url, r.country, r.ip,
            user_agents.text, r.tc_string, r.gpp_string, r.gpc, r.metadata, encode(notices.hash, 'hex'), r.variant, r.bot,
            r.erased_at, place.log, place.position
          from records r
          join domains on domains.number = r.domain_number
          left join user_agents on user_agents.number = r.user_agent_number
          left join notices on notices.number = r.notice_number
          left join (
            select log, first + among as position, encode(substr(ids, among * 16 + 1, 16), 'hex')::uuid as id
            from (
              select log, first, checkpoint_size, ids || ''::bytea as ids
              from log_runs join logs using (domain_number, log) where domain_number = ${Number(domain?.number)}
              offset 0
            ) as runs
            cross join generate_series(0, length(ids) / 16 - 1) as among
            where first + among < checkpoint_size
          ) as place on place.id = r.id
          where r.domain_number = ${Number(domain?.number)}
        ) to stdout with (format csv)`)
      .readable();
    return countLines(readable);
  });
}
