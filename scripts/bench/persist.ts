/**
 * The bare persist statement: 500 rows at a time, one after the other as the worker sends them, through the same client. Its
 * one argument is a `PersistLoad`. Its output: records a second, what each took of CPU time,
 * and the write-ahead log that Postgres wrote for it.
 */
import { createDatabase } from '#libs/base/db/database';
import { persist } from '#libs/record/persist/persist';
import { figuresBetween, look } from './cpu-time.ts';
import { makeRecord } from './requests.ts';

export interface PersistLoad {
  /** of the figures; default: persist */
  name?: string;
  /** what this process is called in them; default: client */
  client?: string;
  databaseUrl: string;
  domainIds: string[];
  records: number;
  postgres: number;
  /** Unix milliseconds over which the records are spread; default: now */
  span?: [from: number, to: number];
}

const rows = 500;
/** statements that are not measured */
const warmUp = 20;
const given: PersistLoad = JSON.parse(process.argv[2] ?? '{}');
const { name = 'persist', client = 'client', databaseUrl, domainIds, records, postgres } = given;
const { span: [from, to] = [Date.now(), Date.now()] } = given;

/** A checkpoint may take longer than any statement of the worker. */
const timeouts = { statementTimeout: 60_000, deadline: 61_000 };
const db = createDatabase({ url: databaseUrl, max: 6, ...timeouts, prepare: true, name: 'bench' });
const batches = Array.from({ length: warmUp + Math.ceil(records / rows) }, (_, batch) =>
  Array.from({ length: rows }, (_, row) => {
    const index = batch * rows + row;
    return makeRecord(domainIds, index, from + ((to - from) * index) / (records + warmUp * rows));
  }),
);
// the first change of a page after a checkpoint writes the whole page to the log: this is left to the warm-up
await db.run((sql) => sql`checkpoint`);
for (const batch of batches.splice(0, warmUp)) await persist(db, batch);
const logged = await logPosition();
const pids = { [client]: process.pid, Postgres: postgres };
const first = look(0, pids);
for (const batch of batches) await persist(db, batch);
const stored = batches.length * rows;
const figures = figuresBetween(name, first, look(stored, pids));
const log = { value: ((await logPosition()) - logged) / stored, unit: 'bytes' };
await db.close();
process.stdout.write(JSON.stringify({ ...figures, [`${name}: log`]: log }));

/** In bytes. */
async function logPosition(): Promise<number> {
  const [row] = await db.run(
    (sql) => sql<{ bytes: number }[]>`select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::bigint as bytes`,
  );
  return row?.bytes ?? Number.NaN;
}
