/**
 * The reference for the worker: the bare persist statement, 500 rows at a time, one after the other as the worker sends
 * them, through the same client. Its one argument says what; its output is records a second, and what they took of the processors.
 */
import { persist } from '#libs/store/records/persist';
import { createDatabase } from '#libs/store/sql';
import type { Site } from './bodies.ts';
import { processorTime } from './processor.ts';
import { makeRecords } from './records.ts';

export interface PersistLoad {
  databaseUrl: string;
  sites: Site[];
  records: number;
  /** its process id */
  postgres: number;
}

export interface PersistResult {
  recordsPerSecond: number;
  /** microseconds for each record, of this process and of Postgres */
  spent: number;
  postgres: number;
}

const rows = 500;
/** statements that are not measured */
const warmUp = 20;
const { databaseUrl, sites, records, postgres } = JSON.parse(process.argv[2] ?? '{}') as PersistLoad;

const timeouts = { statementTimeout: 8_000, deadline: 10_000 };
const db = createDatabase({ url: databaseUrl, max: 6, ...timeouts, prepare: true, name: 'bench' });
const batches = Array.from({ length: warmUp + Math.ceil(records / rows) }, (_, index) =>
  makeRecords(sites, index * rows, rows),
);
for (const batch of batches.splice(0, warmUp)) await persist(db, batch);
const [own, theirs] = [processorTime(process.pid), processorTime(postgres)];
const started = performance.now();
for (const batch of batches) await persist(db, batch);
const seconds = (performance.now() - started) / 1_000;
const stored = batches.length * rows;
const result: PersistResult = {
  recordsPerSecond: stored / seconds,
  spent: (processorTime(process.pid) - own) / stored,
  postgres: (processorTime(postgres) - theirs) / stored,
};
await db.close();
process.stdout.write(JSON.stringify(result));
