/** Reads facets and the time until which they are complete, and caches them until facets are derived again. */
import { LRUCache } from 'lru-cache';
import type { Database, Sql } from '#libs/base/db/database';
import { type InSlot, withoutSlot } from '#libs/base/slots';
import { addDays, cover, firstDay, isMonth, periodsOf, type Span } from '#libs/base/terms/calendar';
import { type Breakdown, decisions, type OrganizationDimension, wholeOrganization } from '#libs/base/terms/terms';
import { within } from '#libs/base/timers';

/** Sums over the decisions that share a value of a dimension. Only the dimension `crawlers` counts crawlers' decisions. */
export interface Facet extends Breakdown {
  dimension: OrganizationDimension | 'crawlers';
  /** '' for none */
  value: string;
  /** the sum of values without a row of their own */
  isOther: boolean;
  /** the day or month, if the question was by period; otherwise '' */
  period: string;
  choices: number;
  optIns: number;
  /** choices made in a banner */
  answers: number;
  /** decisions other than `accept_all` under a model that does not ask before tracking (`opt_out`, `none`); not choices */
  objections: number;
  /** only of a category */
  allowed: number;
  denied: number;
  displays: number;
  /** only of a domain: the time of its newest decision */
  lastAt?: Date | null;
  /** only for a domain's versions: the first day in `spans` with the value; null if an earlier day has it */
  firstDay?: string | null;
}

export interface FacetQuestion {
  organizationId: string;
  /** '' for the whole organization */
  domainId: string;
  dimensions: Facet['dimension'][];
  /** UTC days and months that do not overlap */
  spans: Span[];
  /** a facet for each day and month, instead of their sum */
  isByPeriod?: boolean;
}

const summed = [...decisions, 'choices', 'answers', 'objections', 'allowed', 'denied', 'displays'];
const sums = [...summed.map((name) => [name, name]), ['opt_ins', '"optIns"']]
  .map(([column, name]) => `coalesce(sum(${column}), 0)::bigint as ${name}`)
  .join(', ');

/** No decision is older. */
const firstCounted = '2000-01-01';
/** Dimensions whose values replace each other over time. */
const versions: readonly Facet['dimension'][] = ['bannerVersion', 'policyVersion'];

export async function readFacets(sql: Sql, question: FacetQuestion): Promise<Facet[]> {
  const { organizationId, domainId, dimensions, spans, isByPeriod = false } = question;
  const stored = dimensions.filter((dimension) => dimension !== 'domain');
  const dated = domainId === wholeOrganization ? [] : dimensions.filter((dimension) => versions.includes(dimension));
  const [first = '', last = ''] = [spans[0]?.from, spans.at(-1)?.to];
  const earlier = cover(firstCounted, addDays(isMonth(first) ? firstDay(first) : first, -1));
  const owner = sql`
    organization_number = (select number from organizations where id = ${organizationId})
    and domain_number
      = case ${domainId}::text when '' then 0 else (select number from domains where id = ${domainId}) end`;
  const ofVersion = sql`${owner} and dimension = any (${dated}::text[]::dimension[]) and not is_other`;
  const facets = await sql<Facet[]>`
    with first as (
      select dimension, value, min(period) as day from facets
      where ${ofVersion} and period between ${first} and ${`${last}~`} and length(period) = 10
        and (dimension, value) not in (
          select dimension, value from facets where ${ofVersion} and period = any (${periodsOf(earlier)}::text[])
        )
      group by 1, 2
    )
    select
      dimension, value, is_other as "isOther", ${sql.unsafe(isByPeriod ? 'period' : "''")} as period,
      min(first.day) as "firstDay", ${sql.unsafe(sums)}
    from facets left join first using (dimension, value)
    where ${owner} and dimension = any (${stored}::text[]::dimension[]) and period = any (${periodsOf(spans)}::text[])
    group by 1, 2, 3, 4`;
  return dimensions.length === stored.length ? facets : [...facets, ...(await readDomains(sql, question))];
}

/** The facets of all domains of an organization, summed over `source`, because every record has one. */
const readDomains = (sql: Sql, { organizationId, spans }: FacetQuestion) => sql<Facet[]>`
  select
    'domain' as dimension, domains.id as value, false as "isOther", '' as period, summed.*,
    to_timestamp(milliseconds_of(newest.id) / 1000.0) as "lastAt"
  from domains
  join organizations on organizations.id = domains.organization_id
  cross join lateral (
    select ${sql.unsafe(sums)} from facets
    where organization_number = organizations.number and domain_number = domains.number and dimension = 'source'
      and period = any (${periodsOf(spans)}::text[])
  ) as summed
  left join lateral (
    select id from records where domain_number = domains.number order by id desc limit 1
  ) as newest on true
  where domains.organization_id = ${organizationId}`;

export const facetsName = 'facets';

interface FacetProgress {
  epoch: number;
  /** when that epoch was closed; null before the first */
  at: Date | null;
}

/** Facets include all that was stored before `at`. */
export async function readFacetProgress(sql: Sql): Promise<FacetProgress> {
  const [row] = await sql<FacetProgress[]>`
    select epoch, (select closed_at from closed_epochs c where c.epoch <= d.epoch order by c.epoch desc limit 1) as at
    from derivations d where name = ${facetsName}`;
  return row ?? { epoch: 0, at: null };
}

/** Compares times too, because a restored Postgres closes epochs with the same numbers again. */
const isSame = (one: FacetProgress, other: FacetProgress): boolean =>
  one.epoch === other.epoch && one.at?.getTime() === other.at?.getTime();

/** The cache key: short even for a year of days, because there may be a hundred thousand keys. */
export const nameOf = ({ organizationId, domainId, dimensions, spans, isByPeriod = false }: FacetQuestion): string =>
  [organizationId, domainId, ...dimensions, isByPeriod, ...spans.flatMap(({ from, to }) => [from, to])].join(' ');

/** facets in the cache, some 300 bytes each */
const mostCached = 100_000;
/** milliseconds */
const throughHolds = 1_000;
/** milliseconds */
const quick = 250;
const restAfterFailure = 5_000;

/** `inSlot`: runs a read from Postgres in one of the slots that organizations share; absent if the caller has one. */
export interface FacetReader {
  /** The time until which facets are complete. */
  through(): Promise<FacetProgress>;
  read(question: FacetQuestion, through: FacetProgress): Promise<Facet[]>;
  /** For responses that can do without: undefined if Postgres is slow for the organization. */
  readIfQuick(question: FacetQuestion, inSlot?: InSlot): Promise<Facet[] | undefined>;
}

export function createFacetReader(db: Database): FacetReader {
  const cache = new LRUCache<string, { through: FacetProgress; facets: Facet[] }>({
    maxSize: mostCached,
    sizeCalculation: ({ facets }) => facets.length + 1,
  });
  /** reads under way, which concurrent callers share */
  const reading = new Map<string, Promise<Facet[]>>();
  /** organizations for which Postgres was too slow */
  const resting = new LRUCache<string, true>({ max: 10_000, ttl: restAfterFailure });
  let last: { at: number; asked: Promise<FacetProgress>; found?: FacetProgress } | undefined;

  const current = () => (last && performance.now() - last.at < throughHolds ? last : undefined);

  function through(): Promise<FacetProgress> {
    const known = current();
    if (known) return known.asked;
    const asked = db.read(readFacetProgress);
    const next: typeof last = { at: performance.now(), asked };
    last = next;
    asked.then(
      (found) => {
        next.found = found;
      },
      // the next call reads it again
      () => {
        last = undefined;
      },
    );
    return asked;
  }

  function find(name: string, through: FacetProgress): Facet[] | undefined {
    const known = cache.get(name);
    return known && isSame(known.through, through) ? known.facets : undefined;
  }

  async function ask(name: string, question: FacetQuestion, through: FacetProgress): Promise<Facet[]> {
    const facets = await db.read((sql) => readFacets(sql, question));
    cache.set(name, { through, facets });
    return facets;
  }

  /** Concurrent callers share a read, unless facets have been derived further since it began. */
  function askOnce(name: string, question: FacetQuestion, through: FacetProgress): Promise<Facet[]> {
    const key = `${through.epoch} ${through.at?.getTime()} ${name}`;
    const begun = reading.get(key) ?? ask(name, question, through).finally(() => reading.delete(key));
    reading.set(key, begun);
    return begun;
  }

  async function read(question: FacetQuestion, through: FacetProgress, inSlot = withoutSlot): Promise<Facet[]> {
    const name = nameOf(question);
    // another call may have read it while this one waited for a slot
    return find(name, through) ?? inSlot(async () => find(name, through) ?? askOnce(name, question, through));
  }

  return {
    through,
    read,
    async readIfQuick(question, inSlot) {
      const { organizationId } = question;
      if (resting.has(organizationId)) return undefined;
      const until = current()?.found;
      const known = until && find(nameOf(question), until);
      if (known) return known;
      try {
        return await within(
          quick,
          through().then((until) => read(question, until, inSlot)),
        );
      } catch {
        resting.set(organizationId, true);
        return undefined;
      }
    },
  };
}
