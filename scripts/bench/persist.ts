/**
 * The reference for the worker: the bare persist statement, 500 rows at a time, one after the other as the worker sends
 * them, through the same client. Its one argument is a `PersistLoad`, its output has the names of `drain`.
 */
import { persist } from '#libs/store/records/persist';
import { createDatabase } from '#libs/store/sql';
import { cpuTime } from './cpu-time.ts';
import type { Figures } from './figures.ts';
import { makeRecord, type Site } from './requests.ts';

export interface PersistLoad {
  databaseUrl: string;
  sites: Site[];
  records: number;
  postgres: number;
  /** Unix milliseconds over which the records are spread; default: now */
  span?: [from: number, to: number];
}

const rows = 500;
/** statements that are not measured */
const warmUp = 20;
const given: PersistLoad = JSON.parse(process.argv[2] ?? '{}');
const { databaseUrl, sites, records, postgres, span: [from, to] = [Date.now(), Date.now()] } = given;

const timeouts = { statementTimeout: 8_000, deadline: 10_000 };
const db = createDatabase({ url: databaseUrl, max: 6, ...timeouts, prepare: true, name: 'bench' });
const batches = Array.from({ length: warmUp + Math.ceil(records / rows) }, (_, batch) =>
  Array.from({ length: rows }, (_, row) => {
    const index = batch * rows + row;
    return makeRecord(sites, index, from + ((to - from) * index) / (records + warmUp * rows));
  }),
);
for (const batch of batches.splice(0, warmUp)) await persist(db, batch);
const [own, theirs] = [cpuTime(process.pid), cpuTime(postgres)];
const started = performance.now();
for (const batch of batches) await persist(db, batch);
const seconds = (performance.now() - started) / 1_000;
const stored = batches.length * rows;
const figures: Figures = {
  drain: { value: stored / seconds, unit: 'records/s' },
  'drain: worker': { value: (cpuTime(process.pid) - own) / stored, unit: 'µs CPU' },
  'drain: Postgres': { value: (cpuTime(postgres) - theirs) / stored, unit: 'µs CPU' },
};
await db.close();
process.stdout.write(JSON.stringify(figures));
