/** Sealing without a worker: epochs are closed and sealed when a test says so. */
import { randomBytes } from 'node:crypto';
import { Registry } from 'prom-client';
import type { Database } from '#libs/base/db/database';
import { createLog } from '#libs/base/ops/process-log';
import type { RedisConnection } from '#libs/base/redis/connection';
import { closeEpoch } from '#libs/epochs/closing';
import { blankingName, createBlanking } from '#libs/privacy/blanking';
import { createProofMetrics } from '#libs/proof/metrics';
import { addErasures } from '#libs/proof/seal/erasures-to-seal';
import { createSealing } from '#libs/proof/sealing';
import { createFacets } from '#libs/stats/facet-derivation';
import { privacyKey } from './settings.ts';
import { eventually } from './wait.ts';

export const logName = 'consent.example.com';

export interface Sealer {
  /** closes the open epoch */
  close(): Promise<void>;
  /** what comes before sealing */
  blank(): Promise<void>;
  /** one round: what is closed gets positions and checkpoints */
  seal(): Promise<void>;
  closeAndSeal(): Promise<void>;
}

export function createSealer(db: Database, redis: RedisConnection, keys = [randomBytes(32)]): Sealer {
  const metrics = createProofMetrics(new Registry());
  const log = createLog('test', 'silent');
  const round = createSealing({ sealing: { name: logName, keys }, after: 'blank', redis, db, log, metrics });
  const { signal } = new AbortController();
  const blanking = createBlanking({ db, privacyKey: Buffer.from(privacyKey, 'hex') });
  const blank = () => blanking(signal);
  const seal = async () => {
    await blank();
    await round(signal);
  };
  return {
    close: () => closeOpenEpoch(db),
    blank,
    seal,
    closeAndSeal: async () => {
      await closeOpenEpoch(db);
      await seal();
    },
  };
}

export const closeOpenEpoch = (db: Database): Promise<void> =>
  eventually(async () => {
    const closing = await closeEpoch(db, { pace: 0, patience: 5_000 });
    if (closing !== 'closed') throw new Error(closing);
  });

/** As erasing does once the rows of these records are blank. */
export const eraseRecords = (db: Database, domainId: string, ids: string[]): Promise<void> =>
  db.run(async (sql) => {
    const rows = await sql<{ id: string; epoch: number; domainNumber: number }[]>`
      select id, epoch, domain_number as "domainNumber" from records
      where domain_number = (select number from domains where id = ${domainId}) and id::text = any(${ids})`;
    await addErasures(
      sql,
      rows.map((row) => ({ ...row, erasedOn: '2026-11-22', erasureId: null })),
    );
  });

/** What is closed is in the facets once nobody else is at it: the worker would take a while. */
export async function deriveFacets(db: Database): Promise<void> {
  const { signal } = new AbortController();
  await createBlanking({ db, privacyKey: Buffer.from(privacyKey, 'hex') })(signal);
  await createFacets(db, blankingName)(signal);
}
