import { pipeline } from 'node:stream/promises';
import { Command } from 'commander';
import { z } from 'zod';
import type { Tools } from '#libs/base/cli/session';
import { flags, text, toggle, verbsOf } from '#libs/base/cli/verb';
import { visible } from '#libs/base/cli/visible';
import type { Database } from '#libs/base/db/database';
import { groupBy } from '#libs/base/group-by';
import type { RedisConnection } from '#libs/base/redis/connection';
import { consentInForce } from '#libs/current/in-force';
import { createNewestReader } from '#libs/current/newest';
import { createStoredThrough } from '#libs/record/stored-through';
import { requireDomain, requireSubject, subjectFlags } from '#libs/tenants/command-subject';
import { addVisitorAct, createVisitorHash } from '#libs/tenants/visitors';
import { createFindErasedVisitors } from './erased-lookup.ts';
import { eraseVisitor } from './erasures.ts';
import { replayTombstones } from './replay-tombstones.ts';
import { listTombstones } from './tombstones.ts';
import { readTombstones, writeTombstones } from './tombstones-file.ts';
import { recallTombstones, rememberTombstones } from './tombstones-in-redis.ts';
import { allAbout } from './visitor-document.ts';
import type { Differing } from './visitor-proofs.ts';
import { listVisitorDomains } from './visitor-records.ts';

/** milliseconds */
const day = 24 * 60 * 60 * 1_000;

type VisitorTools = Tools<{
  actor: string;
  backupDays: number;
  privacyKey(): Buffer;
  previousPrivacyKey(): Buffer | undefined;
  connections(): { queueShards: number };
}>;

const eraseFlags = flags(
  z.object({
    ...subjectFlags,
    replay: toggle('after a restore: erase again everyone whom Redis remembers as erased'),
    from: text('with --replay: take the erasures from this file, which `visitor tombstones` wrote', 'file'),
  }),
);
const currentFlags = flags(z.object({ domain: z.string().describe('of this domain') }));
const tombstonesFlags = flags(
  z.object({
    out: text(
      'write to this file; its entries from the last BACKUP_DAYS are kept, even if Redis no longer has them',
      'file',
    ),
    toRedis: toggle('copy the erasures of the last 32 days from Postgres to Redis'),
  }),
);

export function visitorCommand(tools: VisitorTools): Command {
  const noun = new Command('visitor').description("what is stored about one visitor, and that visitor's erasure");
  const verb = verbsOf(noun);

  verb('show <visitor>', flags(z.object(subjectFlags)), async (about, visitorId) => {
    const { actor, privacyKey } = tools.config();
    const hashOf = createVisitorHash(privacyKey());
    await tools.keyed(['PRIVACY_KEY'], async (db) => {
      const scope = await requireSubject(db, about);
      const hash = hashOf(scope.organizationId, visitorId);
      await db.write((sql) => addVisitorAct(sql, { ...scope, actor, act: 'visitor.access', hash }));
      const domains = await listVisitorDomains(db, scope, visitorId);
      await pipeline(printed(allAbout(db, visitorId, domains, sayDiffers)), process.stdout, { end: false });
    });
    return undefined;
  }).description('all that is stored, as JSON: records, newest first, what was shown, proofs');

  verb('current <visitor>', currentFlags, async ({ domain }, visitorId) => {
    const findErased = createFindErasedVisitors(tools.config().privacyKey());
    return tools.keyed(['PRIVACY_KEY'], async (db) => {
      const organizationId = await requireDomain(db, domain);
      const asOf = await storedThrough(tools, organizationId).catch(() => null);
      const [newest] = await createNewestReader(db, findErased).read(organizationId, domain, [visitorId]);
      const held = consentInForce(domain, visitorId, newest, Date.now());
      return { ...held, asOf: asOf === null ? null : new Date(asOf).toISOString() };
    });
  }).description('what the visitor allows now, as `current` of the API says it');

  verb('erase [visitor]', eraseFlags, async ({ replay: isReplay, from, ...about }, visitorId?: string) => {
    if (isReplay) {
      if (visitorId !== undefined) throw new Error('--replay takes no visitor');
      return replay(tools, from);
    }
    if (visitorId === undefined) throw new Error('name a visitor, or give --replay');
    if (from !== undefined) throw new Error('--from needs --replay');
    const { actor, privacyKey } = tools.config();
    const hashOf = createVisitorHash(privacyKey());
    const erasure = await tools.keyed(['PRIVACY_KEY'], async (db) => {
      const scope = await requireSubject(db, about);
      const hash = hashOf(scope.organizationId, visitorId);
      return eraseVisitor(db, { ...scope, visitorId, hash, actor });
    });
    return { ...erasure, visitorId, state: erasure.erasedAt ? 'done' : 'running' };
  }).description('take the personal fields out of all records, also of those that are still to come');

  verb('tombstones', tombstonesFlags, async ({ out, toRedis }) => {
    if (toRedis) {
      if (out !== undefined) throw new Error('give either --out or --to-redis');
      return { tombstones: await tools.database((db) => tools.redis((redis) => copyTombstones(db, redis))) };
    }
    const { tombstones, now } = await tools.redis(async ({ client }) => {
      const [seconds] = await client.time();
      // a clock that is ahead must not remove anybody from the file
      return { tombstones: await recallTombstones(client), now: Math.min(Date.now(), Number(seconds) * 1_000) };
    });
    if (out === undefined)
      return () => void process.stdout.write(tombstones.map((each) => `${JSON.stringify(each)}\n`).join(''));
    const since = new Date(now - tools.config().backupDays * day).toISOString();
    return writeTombstones(out, tombstones, since);
  }).description(
    'list erased visitors as hashes. Keep the list apart from the backups: `visitor erase --replay` needs it',
  );
  return noun;
}

const storedThrough = (tools: VisitorTools, organizationId: string): Promise<number | null> =>
  tools.redis(async (redis) => {
    const stored = createStoredThrough(redis, tools.config().connections().queueShards, () => {});
    await stored.follow();
    await stored.close();
    return stored.of(organizationId);
  });

/** tombstones in one statement */
const pageSize = 10_000;

/** Returns how many. */
async function copyTombstones(db: Database, { client }: RedisConnection): Promise<number> {
  let copied = 0;
  for await (const page of listTombstones(db, pageSize)) {
    await rememberTombstones(client, page);
    copied += page.length;
  }
  return copied;
}

async function* printed(texts: AsyncIterable<string>): AsyncGenerator<string> {
  for await (const text of texts) yield visible(text);
  yield '\n';
}

function sayDiffers({ domainId, log, position }: Differing): void {
  process.stderr.write(
    `${domainId}: position ${position} of log ${log} is not what was sealed, and has no proof here\n`,
  );
}

async function replay(
  tools: VisitorTools,
  from: string | undefined,
): Promise<{ tombstones: number; visitors: number; records: number }> {
  const { actor, privacyKey, previousPrivacyKey } = tools.config();
  const hashOf = createVisitorHash(privacyKey());
  const previousKey = previousPrivacyKey();
  const previousHashOf = previousKey && createVisitorHash(previousKey);
  const tombstones =
    from === undefined ? await tools.redis((redis) => recallTombstones(redis.client)) : await readTombstones(from);
  const result = { tombstones: tombstones.length, visitors: 0, records: 0 };
  await tools.keyed(['PRIVACY_KEY'], async (db) => {
    const byOrganization = groupBy(tombstones, ({ organizationId, domainId }) => `${organizationId} ${domainId}`);
    for (const some of byOrganization.values()) {
      const [first] = some;
      if (!first) continue;
      const scope = { organizationId: first.organizationId, domainId: first.domainId ?? undefined };
      const replayed = await replayTombstones(db, { scope, tombstones: some, hashOf, previousHashOf, actor });
      result.visitors += replayed.visitors;
      result.records += replayed.records;
    }
  });
  // Redis may have been restored, too
  if (from !== undefined) await tools.redis((redis) => rememberTombstones(redis.client, tombstones));
  return result;
}
