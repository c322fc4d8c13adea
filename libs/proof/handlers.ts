/** Handlers for following a domain's log, and for proofs of its records. */

import type { Database, Reads, Sql } from '#libs/base/db/database';
import type { Context, Middleware } from '#libs/base/http/context';
import { guard } from '#libs/base/http/guard';
import type { Log } from '#libs/base/ops/process-log';
import { sha256 } from '#libs/base/sha256';
import { refuseFields } from '#libs/base/terms/field-errors';
import { notConfigured, Problem } from '#libs/base/terms/problem';
import { organizationIn } from '#libs/tenants/bearer';
import { endpoint } from '#libs/tenants/endpoint';
import type { LogReads } from '#libs/tenants/log-reads';
import { requireConsentLog, requireOwnDomain } from '#libs/tenants/requirements';
import { proveEntry } from './prove/prove-entry.ts';
import { readHashes, readTileBytes } from './prove/tiles.ts';
import { formatBundle, formatProof, prove } from './prove.ts';
import { requireLog } from './published.ts';
import { proofRoutes as routes } from './routes.ts';
import { readEntryTexts } from './sealed-text.ts';
import { base64, utf8 } from './tree/bytes.ts';
import { consistencyProof, consistencyTiles } from './tree/make-proofs.ts';
import { type EntryBundle, packBundle, parseTilePath, type Tile, tileWidth, widthAt } from './tree/tlog-tiles.ts';

interface Parts {
  db: Database;
}

const text = 'text/plain; charset=utf-8';

/**
 * The checkpoint with the time of its signature, which the note does not contain. Available on every plan. Never read
 * from a replica, so that followers do not see a log shrink.
 */
export const getCheckpoint = endpoint(routes.getCheckpoint, async ({ db }: Parts, { organization, params, query }) => {
  const { domainId } = params;
  requireOwnDomain(organization, domainId);
  const { checkpoint, sealedAt } = await db.read((sql) => requireLog(sql, domainId, query.log));
  return { body: checkpoint, type: text, headers: { 'Last-Modified': sealedAt.toUTCString() } };
});

/** Available on every plan, like the checkpoint. */
export const getVerifierKeys = endpoint(routes.getVerifierKeys, async ({ db }: Parts, asked) => {
  const { domainId } = asked.params;
  requireOwnDomain(asked.organization, domainId);
  const { verifierKeys } = await db.read((sql) => requireLog(sql, domainId, asked.query.log));
  return { body: verifierKeys.map((key) => `${key}\n`).join(''), type: text };
});

export const getConsistency = endpoint(
  routes.getConsistency,
  async ({ readDb }: { readDb: Reads }, { organization, params: { domainId }, query: { from, to, log } }) => {
    requireOwnDomain(organization, domainId);
    return readDb.read(async (sql) => {
      const published = await requireLog(sql, domainId, log);
      if (to > published.size) {
        throw refuseFields([
          { path: '/to', in: 'query', message: `must be at most the log's size, ${published.size}` },
        ]);
      }
      // two equal sizes need no proof
      const tiles = await readTileBytes(sql, published, consistencyTiles(from, to));
      return { body: { log: published.log, from, to, proof: consistencyProof(sha256, from, to, tiles).map(base64) } };
    });
  },
);

/** `/<L>/<N>[.p/<W>]`, named as in C2SP tlog-tiles. Available on every plan. */
export function getTile({ readDb }: { readDb: Reads }): Middleware {
  return guard(routes.getTile, async (ctx, { params: { domainId }, query }) => {
    requireOwnDomain(organizationIn(ctx), domainId);
    const tile = tileIn(ctx);
    if (tile.level === 'entries') throw noSuchTile();
    const [hashes] = await readDb.read(async (sql) => {
      const log = await requireLog(sql, domainId, query.log);
      requireTile(tile, log.size);
      return readHashes(sql, log, [tile]);
    });
    // without a number it is the newest log, which changes with a restart
    if (tile.width === tileWidth && query.log !== undefined)
      ctx.set('Cache-Control', 'private, max-age=31536000, immutable');
    ctx.type = 'application/octet-stream';
    ctx.body = hashes;
  });
}

/** `/entries/<N>[.p/<W>]`: needs a plan with the log, like records. */
export function getEntries({ readDb, log, logReads }: Omit<ProofParts, 'config'>): Middleware {
  return guard(routes.getEntries, async (ctx, { params: { domainId }, query }) => {
    const organization = organizationIn(ctx);
    requireOwnDomain(organization, domainId);
    requireConsentLog(organization);
    const bundle = tileIn(ctx);
    const from = bundle.index * tileWidth;
    const entries = await readDb.read(
      async (sql) => {
        const published = await requireLog(sql, domainId, query.log);
        requireTile(bundle, published.size);
        const reported = { log, domainId, requestId: ctx.state.requestId };
        return readEntryTexts(sql, published, { from, below: from + bundle.width }, reported);
      },
      { snapshot: true },
    );
    logReads.note(ctx, { what: 'entries', records: entries.length, domainId });
    ctx.type = 'application/octet-stream';
    ctx.body = Buffer.from(packBundle(entries.map(utf8)));
  });
}

const before = '/log/tile/';

/** Parses the raw path: decoding it would accept other spellings of the same tile. */
function tileIn(ctx: Context): Tile | EntryBundle {
  const tile = parseTilePath(ctx.path.slice(ctx.path.indexOf(before) + before.length));
  if (!tile) throw noSuchTile();
  return tile;
}

/** Throws unless a log of this size has the tile with at least this width. */
function requireTile({ level, index, width }: Tile | EntryBundle, size: number): void {
  if (width > widthAt(level, index, size)) throw noSuchTile();
}

const noSuchTile = () => new Problem('not_found', 'the log has no such tile');

interface ProofParts {
  config: { sealSeconds: number };
  readDb: Reads;
  log: Log;
  logReads: LogReads;
}

/** Whether a worker ever had a key to sign with: an API process has none of its own. */
async function isSealing(sql: Sql): Promise<boolean> {
  const [row] = await sql<{ sealing: boolean }[]>`
    select exists (select from key_fingerprints where name = 'LOG_KEY') or exists (select from logs) as sealing`;
  return row?.sealing === true;
}

/** `Retry-After` in seconds while nothing is sealed. */
const unsealed = 60;

export function getProof({ config, readDb, log, logReads }: ProofParts): Middleware {
  return guard(routes.getProof, async (ctx, { params, query }) => {
    const organization = organizationIn(ctx);
    requireOwnDomain(organization, params.domainId);
    requireConsentLog(organization);
    const reported = { log, domainId: params.domainId, requestId: ctx.state.requestId };
    ctx.vary('Accept');
    const isBundle = ctx.accepts('text/plain', 'application/json') === 'application/json';
    const proven = await readDb.read(
      async (sql) => {
        const found = await prove(sql, { ...params, ...query, isBundle }, reported);
        if (!found) throw await notSealed(sql, 'record', config);
        return found;
      },
      { snapshot: true },
    );
    logReads.note(ctx, { what: 'proof', records: 1, domainId: params.domainId });
    if (isBundle) {
      ctx.body = formatBundle(proven);
    } else {
      ctx.type = text;
      ctx.body = formatProof(proven);
    }
  });
}

export const getEntryProof = endpoint(
  routes.getEntryProof,
  async ({ config, readDb, log }: Omit<ProofParts, 'logReads'>, { organization, params, query, requestId }) => {
    const { domainId } = params;
    requireOwnDomain(organization, domainId);
    requireConsentLog(organization);
    const body = await readDb.read(
      async (sql) => {
        const found = await proveEntry(sql, { ...params, ...query }, { log, domainId, requestId });
        if (found === undefined) throw await notSealed(sql, 'position', config);
        return found;
      },
      { snapshot: true },
    );
    return { body, type: text, read: { what: 'proof', records: 1, domainId } };
  },
);

async function notSealed(sql: Sql, what: string, { sealSeconds }: ProofParts['config']): Promise<Problem> {
  if (!(await isSealing(sql))) return notConfigured('this installation has no LOG_KEY, which records are sealed with');
  return new Problem('not_sealed_yet', `no checkpoint covers this ${what} yet`, {
    headers: { 'Retry-After': String(sealSeconds || unsealed) },
  });
}
