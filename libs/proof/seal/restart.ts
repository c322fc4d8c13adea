/**
 * Restarting: a domain's log ends with its newest checkpoint, and the next one starts with everything that no checkpoint
 * covers. That includes entries of the old log that were never published: signing them now could contradict an earlier
 * signature.
 */

import type { Database, Sql } from '#libs/base/db/database';
import type { RedisConnection } from '#libs/base/redis/connection';
import { sha256 } from '#libs/base/sha256';
import type { Perform } from '#libs/tenants/audited-change';
import { Refused } from '#libs/tenants/change-errors';
import { takeTexts } from '../log-texts.ts';
import { readTileBytes } from '../prove/tiles.ts';
import { addRuns, type LogName, takeRuns } from '../runs.ts';
import { listLogStatus } from '../status.ts';
import { packFrontier } from '../tree/frontier.ts';
import { frontierFromTiles, rootTiles } from '../tree/make-proofs.ts';
import { parseEntry } from '../tree/parse-entry.ts';
import { tileWidth } from '../tree/tlog-tiles.ts';
import { recall } from '../witness.ts';
import { addErasures, takeErasureEntries } from './erasures-to-seal.ts';

interface Ending extends LogName {
  size: number;
  checkpointSize: number;
  lastEpoch: number;
  lastId: string;
  waitsFrom: number | null;
}

/** Number and origin of the log that follows log `ended`. Called once the old one cannot grow any more. */
type NextLog = (ended: number) => Promise<{ log: number; origin: string }>;

interface RestartParts {
  db: Database;
  perform: Perform;
  redis: RedisConnection;
  logName: string;
}

interface RestartOptions {
  /** default: all domains whose logs are behind */
  domainId?: string | undefined;
  /** the least number that the next log may have */
  log?: number | undefined;
  /** restart even a log that is not halted */
  yes?: boolean | undefined;
}

/** Restarts logs, each in its own transaction. Throws if the domain's log is not halted, unless `yes`. */
export async function restartLogs(
  { db, perform, redis, logName }: RestartParts,
  { domainId, log: least = 1, yes = false }: RestartOptions = {},
) {
  const concerned = await db.read((sql) => listLogStatus(sql, domainId === undefined ? 'behind' : undefined));
  const named = concerned.find((each) => each.domainId === domainId);
  if (named?.halted === null && !yes)
    throw new Error(`log ${named.log} of ${domainId} is not halted; to end it all the same, give --yes`);
  const ids = domainId === undefined ? concerned.map((each) => each.domainId) : [domainId];
  const results = [];
  for (const id of ids) {
    const next = async (ended: number) => {
      const [witnessed] = await recall(redis.client, [id]);
      const log = Math.max(ended + 1, (witnessed?.log ?? 0) + 1, least);
      return { log, origin: `${logName}/${id}/${log}` };
    };
    results.push(await restartLog(perform, id, next));
  }
  return results;
}

/**
 * Ends a domain's log at its newest checkpoint (`size`), and starts the next one. Throws Refused if the domain has none.
 */
export const restartLog = (perform: Perform, domainId: string, next: NextLog) =>
  perform(async (sql, note) => {
    const [domain] = await sql`select from domains where id = ${domainId}`;
    if (!domain) throw new Refused(`no domain ${domainId}`);
    const [ending] = await sql<Ending[]>`
      select domain_number as "domainNumber", log, size, checkpoint_size as "checkpointSize", last_epoch as "lastEpoch",
        last_id as "lastId", waits_from as "waitsFrom"
      from logs where domain_number = (select number from domains where id = ${domainId}) and ended_at is null
      for update`;
    if (!ending) throw new Refused(`domain ${domainId} has no log: nothing of it is sealed yet`);
    const { domainNumber, log: ended, checkpointSize: size } = ending;
    const { log, origin } = await next(ended);
    const { lastEpoch, lastId, waitsFrom } = await cutBack(sql, ending);
    await sql`
      update logs set ended_at = clock_timestamp(), waits_from = null
      where domain_number = ${domainNumber} and log = ${ended}`;
    await sql`
      insert into logs (domain_number, log, origin, last_epoch, last_id, waits_from)
      values (${domainNumber}, ${log}, ${origin}, ${lastEpoch}, ${lastId}, ${waitsFrom})`;
    await note({ act: 'log.restart', subject: domainId, domainId, details: { ended, size, log } });
    return { domainId, ended, size, log, origin };
  });

type LastRecord = Pick<Ending, 'lastEpoch' | 'lastId' | 'waitsFrom'>;

/** Removes what no checkpoint covers from the log. Returns the record that the next log continues after. */
async function cutBack(sql: Sql, ending: Ending): Promise<LastRecord> {
  const { domainNumber, log, size, checkpointSize, waitsFrom, lastEpoch: epoch } = ending;
  if (size === checkpointSize) return ending;
  const inTile = checkpointSize % tileWidth;
  const tail = await takeRuns(sql, [{ domainNumber, log, first: checkpointSize - inTile }]);
  const ids = Buffer.concat(tail.map((run) => run.ids));
  const [cut] = await sql<{ epoch: number; id: string }[]>`
    select epoch, id
    from generate_series(${inTile * 16 + 1}::integer, ${ids.length}, 16) as at
    join records on domain_number = ${domainNumber} and id = encode(substr(${ids}::bytea, at, 16), 'hex')::uuid
    order by epoch, id limit 1`;
  const last: LastRecord = cut
    ? { lastEpoch: cut.epoch, lastId: before(cut.id), waitsFrom: Math.min(cut.epoch, waitsFrom ?? cut.epoch) }
    : ending;
  if (inTile > 0) {
    await addRuns(sql, [
      {
        domainNumber,
        log,
        first: checkpointSize - inTile,
        entries: inTile,
        ...last,
        ids: ids.subarray(0, inTile * 16),
        secrets: Buffer.concat(tail.map((run) => run.secrets)).subarray(0, inTile * 16),
        leaves: Buffer.concat(tail.map((run) => run.leaves)).subarray(0, inTile * 32),
        sealed: tail.map((run) => run.sealed).join(''),
      },
    ]);
  }
  const texts = await takeTexts(sql, ending, checkpointSize);
  const erasures = await takeErasureEntries(sql, ending, checkpointSize);
  await addErasures(
    sql,
    texts
      .map(parseEntry)
      .flatMap((entry) =>
        entry.type === 'erasure' ? [{ ...entry, domainNumber, epoch, erasureId: erasures.get(entry.id) ?? null }] : [],
      ),
  );
  await sql`
    delete from log_nodes
    where domain_number = ${domainNumber} and log = ${log} and (n + 1) * power(256, level) > ${checkpointSize}`;
  await sql`
    delete from erased_commitments
    where domain_number = ${domainNumber} and log = ${log} and position >= ${checkpointSize}`;
  const tiles = await readTileBytes(sql, ending, rootTiles(checkpointSize));
  const hashes = frontierFromTiles(sha256, checkpointSize, tiles);
  const frontier = Buffer.from(packFrontier({ size: checkpointSize, hashes }));
  await sql`
    update logs set size = ${checkpointSize}, frontier = ${frontier}, last_epoch = ${last.lastEpoch}, last_id = ${last.lastId}
    where domain_number = ${domainNumber} and log = ${log}`;
  return last;
}

/** The id just before this one. */
function before(id: string): string {
  const digits = (BigInt(`0x${id.replaceAll('-', '')}`) - 1n).toString(16).padStart(32, '0');
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
