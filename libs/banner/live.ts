/** Caches each domain's line of settings (see `script.ts`) until an act changes its banner, the domain or a key. */
import { LRUCache } from 'lru-cache';
import { Batcher } from '#libs/base/batcher';
import type { Database, Sql } from '#libs/base/db/database';
import { domainIdPattern } from '#libs/base/terms/terms';
import type { TenantCache } from '#libs/tenants/tenant-cache';
import { type LiveBanner, type PackedLine, packLine } from './script.ts';

/** bytes */
const mostBytes = 64 * 1024 * 1024;
/** bytes of an entry in addition to its line */
const overhead = 800;
/** Milliseconds after which an unknown domain is looked up again. */
const unknownFor = 500;
/** milliseconds for a lookup */
const patience = 1_500;

export interface LiveBanners {
  /** Null for an unknown or archived domain. Rejects if it is not in memory and Postgres is down. */
  line(domainId: string): Promise<PackedLine | null>;
}

interface LiveParts {
  db: Database;
  tenants: Pick<TenantCache, 'onActs'>;
  /** PUBLIC_URL */
  publicUrl: string | undefined;
}

export function createLiveBanners({ db, tenants, publicUrl }: LiveParts): LiveBanners {
  const known = new LRUCache<string, PackedLine>({
    maxSize: mostBytes,
    sizeCalculation: ({ deflated }) => deflated.length + overhead,
  });
  const unknown = new LRUCache<string, true>({ max: 10_000, ttl: unknownFor });
  /** domains being read; one that changes meanwhile is removed, so that its outdated line is not cached */
  const loading = new Set<string>();
  const changed = (domainId: string) => {
    for (const each of [known, unknown, loading]) each.delete(domainId);
  };
  const allChanged = () => {
    for (const each of [known, unknown, loading]) each.clear();
  };
  tenants.onActs((acts) => {
    if (!acts) return allChanged();
    for (const { act, subject, domainId } of acts) {
      const noun = act.split('.')[0];
      if (act === 'org.close') allChanged();
      else if (noun === 'banner' || noun === 'domain') changed(subject);
      else if (noun === 'key' && domainId !== null) changed(domainId);
    }
  });
  const lookups = new Batcher<string, Map<string, PackedLine>>({
    run: async (ids) => {
      loading.clear();
      for (const id of ids) loading.add(id);
      const found = await db.read((sql) => findLive(sql, ids), { deadline: patience });
      const lines = new Map(found.map((live) => [live.domainId, packLine(live, publicUrl)]));
      for (const [id, line] of lines) if (loading.delete(id)) known.set(id, line);
      return lines;
    },
    maxBatch: 20,
    maxPending: 500,
    patience,
  });
  return {
    line: async (domainId) => {
      const cached = known.get(domainId);
      if (cached) return cached;
      if (!domainIdPattern.test(domainId) || unknown.has(domainId)) return null;
      const line = (await lookups.add(domainId)).get(domainId);
      if (!line) unknown.set(domainId, true);
      return line ?? null;
    },
  };
}

/** Of domains that are not archived. */
export const findLive = (sql: Sql, domainIds: string[]): Promise<LiveBanner[]> => sql<LiveBanner[]>`
  select d.id as "domainId", v.number as version, v.settings, case when v.number is not null then k.page_key end as key
  from domains d
  left join lateral (
    select number, settings from banner_versions where domain_number = d.number order by number desc limit 1
  ) as v on true
  left join api_keys k on k.domain_id = d.id and k.page_key is not null and k.revoked_at is null
  where d.id = any(${domainIds}) and d.archived_at is null`;
