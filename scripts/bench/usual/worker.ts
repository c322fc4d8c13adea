/**
 * The usual design's worker: for each job one INSERT and then one set of HINCRBY in one pipeline. Postgres is asked
 * through prepared statements that the client pipelines, so that commits share their fsync. `concurrency` and the pool
 * were tried at 10, 25, 50, 100 and 200 jobs and 5, 10 and 20 connections, in turn on one backlog each: fewer than 50
 * jobs are slower, more or other pools are not faster.
 * Its one argument says where the stores are.
 */
import { Worker } from 'bullmq';
import { Redis } from 'ioredis';
import postgres from 'postgres';
import { dayOf, monthOfDay } from '#libs/contract/calendar';
import { timeOf } from '#libs/contract/uuid';
import { type UsualRecord, usualCounter, usualQueue } from './tables.ts';

export interface UsualWorker {
  databaseUrl: string;
  redisUrl: string;
  concurrency?: number;
  connections?: number;
}

const given = JSON.parse(process.argv[2] ?? '{}') as UsualWorker;
const { databaseUrl, redisUrl, concurrency = 50, connections = 10 } = given;

const url = new URL(databaseUrl);
url.searchParams.delete('sslmode');
const sql = postgres(url.href, { max: connections, ssl: false });
const connection = new Redis(redisUrl, { maxRetriesPerRequest: null });

async function store(record: UsualRecord): Promise<void> {
  const { preferences = null, metadata = null } = record;
  await sql`
    insert into usual_records (
      id, domain_id, organization_id, decision, received_at, source, gpc, visitor_id, preferences, banner_version,
      policy_version, language, page_url, country, ip, user_agent, tc_string, gpp_string, metadata
    ) values (
      ${record.id}, ${record.domainId}, ${record.organizationId}, ${record.decision}, ${record.receivedAt},
      ${record.source ?? 'banner'}, ${record.gpc ?? null}, ${record.visitorId ?? null}, ${sql.json(preferences)},
      ${record.bannerVersion ?? null}, ${record.policyVersion ?? null}, ${record.language ?? null},
      ${record.pageUrl ?? null}, ${record.country ?? null}, ${record.ip ?? null}, ${record.userAgent ?? null},
      ${record.tcString ?? null}, ${record.gppString ?? null}, ${sql.json(metadata)}
    ) on conflict do nothing`;
}

async function count({ id, domainId, organizationId, decision }: UsualRecord): Promise<void> {
  const day = dayOf(timeOf(id));
  const month = monthOfDay(day);
  const pipeline = connection.pipeline();
  for (const owner of [domainId, organizationId]) {
    for (const period of [day, month]) pipeline.hincrby(usualCounter(owner, period), decision, 1);
  }
  await pipeline.exec();
}

const worker = new Worker<UsualRecord>(
  usualQueue.name,
  async ({ data }) => {
    await store(data);
    await count(data);
  },
  { connection, prefix: usualQueue.prefix, concurrency, removeOnComplete: { count: 0 } },
);
worker.on('error', (error) => process.stderr.write(`${error.message}\n`));
await worker.waitUntilReady();
process.stdout.write(`${JSON.stringify({ ready: true })}\n`);
