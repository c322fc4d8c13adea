/** GET /v1/consent/:domainId/log/tile/<L>/<N>[.p/<W>]: hashes, as C2SP tlog-tiles names them. No plan gates them. */

import type { Database } from '#libs/base/db/database';
import type { Context, Middleware } from '#libs/base/http/context';
import { guard } from '#libs/base/http/guard';
import { domainPath } from '#libs/base/terms/parameters';
import { Problem } from '#libs/base/terms/problem';
import { logQuery } from '#libs/record/contract';
import { organizationIn } from '#libs/tenants/bearer';
import { requireOwnDomain } from '#libs/tenants/rules';
import { readHashes } from './hashes.ts';
import { requireLog } from './requested-log.ts';
import { type EntryBundle, parseTilePath, type Tile, tileWidth, widthAt } from './tree/tile-path.ts';

export function hashTile({ readDb }: { readDb: Database }): Middleware {
  return guard({ params: domainPath, query: logQuery }, async (ctx, { params: { domainId }, query }) => {
    requireOwnDomain(organizationIn(ctx), domainId);
    const tile = tileIn(ctx);
    if (tile.level === 'entries') throw noSuchTile();
    const [hashes] = await readDb.run(async (sql) => {
      const log = await requireLog(sql, domainId, query.log);
      requireTile(tile, log.size);
      return readHashes(sql, log, [tile]);
    });
    if (tile.width === tileWidth) ctx.set('Cache-Control', 'private, max-age=31536000, immutable');
    ctx.type = 'application/octet-stream';
    ctx.body = hashes;
  });
}

const before = '/log/tile/';

/** Which tile the path names, as it came over the wire: decoded, other spellings would be the same. */
export function tileIn(ctx: Context): Tile | EntryBundle {
  const tile = parseTilePath(ctx.path.slice(ctx.path.indexOf(before) + before.length));
  if (!tile) throw noSuchTile();
  return tile;
}

/** Throws unless a log of this size has the tile with at least this width. */
export function requireTile({ level, index, width }: Tile | EntryBundle, size: number): void {
  if (width > widthAt(level, index, size)) throw noSuchTile();
}

const noSuchTile = () => new Problem('not_found', 'the log has no such tile');
