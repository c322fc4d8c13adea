import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { text as readText } from 'node:stream/consumers';
import { stringify } from 'csv-stringify/sync';
import { dayOf } from '#libs/contract/calendar';
import { importTypes } from '#libs/contract/import';
import type { NewRecord } from '#libs/contract/record';
import { imported } from '#libs/contract/responses';
import type { Site } from '../../stack/client.ts';
import { figuresBetween, look } from '../cpu-time.ts';
import { atLeast, type Figures } from '../figures.ts';
import type { Measurement } from '../measurement.ts';
import { persistAlone } from '../programs.ts';
import { makeRecord } from '../requests.ts';
import type { Server, Stack } from '../stack.ts';

/** over which the rows are spread */
const span = 90 * 86_400_000;

type Format = keyof typeof importTypes;

/** From the first byte of a file until all of it is stored and counted, and the queue is empty. */
export const imports: Measurement = {
  name: 'import',
  about: 'rows/s imported over HTTP until all are stored and counted ÷ the bare persist statement; counts compared',
  reference:
    async (stack, { records }) =>
    () =>
      persistAlone(stack, { name: 'import', records: records / 2 }),
  figure: async (stack, { records }) => {
    const [api, worker] = await Promise.all([stack.startApi(), stack.startWorker()]);
    const pids = { API: api.pid, worker: worker.pid, ...stack.pids };
    const importAll = async (name: string, site: Site, format: Format, { rows, text }: File): Promise<Figures> => {
      const before = look(0, pids);
      await send(stack, api, site, format, text, { queued: rows.length, known: 0 });
      await stack.untilQuiet();
      const figures = figuresBetween(name, before, look(rows.length, pids));
      await compare(stack, site, rows);
      return figures;
    };
    return async () => {
      const [one, other] = await stack.makeSites(2);
      if (!one || !other) throw new Error('there are no domains');
      const file = makeFile(one, 'ndjson', records);
      const figures = await importAll('import', one, 'ndjson', file);
      const before = look(0, pids);
      await send(stack, api, one, 'ndjson', file.text, { queued: 0, known: records });
      const again = figuresBetween('import: again', before, look(records, pids));
      const ofCsv = await importAll('import: csv', other, 'csv', makeFile(other, 'csv', records));
      return { ...figures, ...ofCsv, ...again };
    };
  },
  targets: { import: atLeast(10_000, 'figure'), 'import: csv': atLeast(10_000) },
};

interface File {
  rows: NewRecord[];
  text: Buffer;
}

function makeFile({ domainId }: Site, format: Format, count: number): File {
  const now = Date.now();
  const rows = Array.from({ length: count }, (_, index) =>
    makeRecord([domainId], index, now - span + (span * index) / count),
  );
  const text =
    format === 'csv'
      ? stringify(rows, { header: true, cast: { boolean: String } })
      : rows.map((row) => `${JSON.stringify(row)}\n`).join('');
  return { rows, text: Buffer.from(text) };
}

async function send(
  stack: Stack,
  { baseUrl }: Server,
  { organizationId, domainId }: Site,
  format: Format,
  text: Buffer,
  expected: { queued: number; known: number },
): Promise<void> {
  // not by fetch, which does not hand on what is answered before the file is sent
  const headers = {
    authorization: `Bearer ${stack.token(organizationId, 'import')}`,
    'content-type': importTypes[format],
    'content-length': text.length,
  };
  // a connection that was kept may have been closed while this process made the file
  const options = { method: 'POST', headers, agent: false };
  const sending = request(`${baseUrl}/v1/consent/${domainId}/import?format=${format}`, options);
  sending.end(text);
  const [response]: IncomingMessage[] = await once(sending, 'response');
  sending.on('error', () => {});
  if (!response) throw new Error('import did not answer');
  const answer = await readText(response);
  if (response.statusCode !== 200) throw new Error(`import answered ${response.statusCode}: ${answer}`);
  const { queued, known } = imported.parse(JSON.parse(answer));
  if (queued !== expected.queued || known !== expected.known) throw new Error(`${queued} queued, ${known} known`);
}

/** Throws unless the records, and the counters of each day, are those of the rows. */
async function compare({ db }: Stack, { domainId }: Site, rows: NewRecord[]): Promise<void> {
  const wanted = new Map<string, number>();
  const add = (key: string, count: number) => wanted.set(key, (wanted.get(key) ?? 0) + count);
  for (const { receivedAt, decision } of rows) add(`${dayOf(Date.parse(receivedAt))} ${decision}`, 1);
  const found = await db.run(
    (sql) => sql<{ source: string; day: string; decision: string; count: number }[]>`
      select 'records' as source, to_char(to_timestamp(milliseconds_of(id) / 1000.0) at time zone 'UTC', 'YYYY-MM-DD') as day,
        decision::text, count(*) as count
      from records where domain_number = (select number from domains where id = ${domainId}) group by 2, 3
      union all
      select 'counters', period, decision, count
      from counters cross join lateral (
        values ('accept_all', accept_all), ('reject_all', reject_all), ('custom', custom), ('withdraw', withdraw)
      ) as each (decision, count)
      where domain_id = ${domainId} and length(period) = 10 and count > 0`,
  );
  for (const source of ['records', 'counters']) {
    const of = found.filter((each) => each.source === source);
    const wrong = of.filter(({ day, decision, count }) => wanted.get(`${day} ${decision}`) !== count);
    if (wrong.length > 0 || of.length !== wanted.size) throw new Error(`${wrong.length} ${source} are wrong`);
  }
}
