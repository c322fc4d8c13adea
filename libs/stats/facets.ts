/** Reads facets, and until when they are complete; what was read is kept for as long as it holds. */
import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Database, Sql } from '#libs/base/db/database';
import { type InPlace, withoutPlace } from '#libs/base/places';
import { type Breakdown, type Dimension, decisions } from '#libs/base/terms/terms';
import { within } from '#libs/base/within';

/** What decisions of one value add up to, without crawlers'. */
export interface Facet extends Breakdown {
  dimension: Dimension | 'crawlers';
  /** '' for none */
  value: string;
  /** all values that have no row of their own */
  isOther: boolean;
  /** the day or month, where the question was for each; '' for all together */
  period: string;
  choices: number;
  optIns: number;
  /** choices made in a banner */
  answers: number;
  /** of a category only */
  allowed: number;
  denied: number;
  displays: number;
}

export interface FacetQuestion {
  organizationId: string;
  /** '' for the whole organization */
  domainId: string;
  dimensions: Facet['dimension'][];
  /** UTC days and months, none of which holds another */
  periods: string[];
  /** a facet for each of them, instead of their sum */
  isByPeriod?: boolean;
}

export const readFacets = (
  sql: Sql,
  { organizationId, domainId, dimensions, periods, isByPeriod = false }: FacetQuestion,
) => sql<Facet[]>`
  select
    dimension, value, is_other as "isOther", ${sql.unsafe(isByPeriod ? 'period' : "''")} as period,
    ${sql.unsafe(decisions.map((name) => `sum(${name})::bigint as ${name}`).join(', '))},
    sum(choices)::bigint as choices, sum(opt_ins)::bigint as "optIns", sum(answers)::bigint as answers,
    coalesce(sum(allowed), 0)::bigint as allowed, coalesce(sum(denied), 0)::bigint as denied,
    coalesce(sum(displays), 0)::bigint as displays
  from facets
  where organization_number = (select number from organizations where id = ${organizationId})
    and domain_number = case ${domainId}::text when '' then 0 else (select number from domains where id = ${domainId}) end
    and dimension = any (${dimensions}::text[]::dimension[]) and period = any (${periods}::text[])
  group by 1, 2, 3, 4`;

/** of their derivation */
export const facetsName = 'facets';

interface Through {
  epoch: number;
  /** when that epoch was closed; null before the first */
  at: Date | null;
}

/** What was stored before then is in the facets. */
export async function facetsThrough(sql: Sql): Promise<Through> {
  const [row] = await sql<Through[]>`
    select epoch, (select closed_at from closed_epochs c where c.epoch <= d.epoch order by c.epoch desc limit 1) as at
    from derivations d where name = ${facetsName}`;
  return row ?? { epoch: 0, at: null };
}

/** As short for a year of days as for one: it may be kept a hundred thousand times. */
export const nameOf = (question: FacetQuestion): string => hash('sha256', JSON.stringify(question), 'base64');

/** facets of all answers together, some 300 bytes each */
const kept = 100_000;
/** milliseconds */
const throughHolds = 1_000;
/** milliseconds */
const quick = 250;
const restAfterFailure = 5_000;

/** `inPlace`: what is read from Postgres takes one; without it, the caller has one. */
export interface FacetReader {
  /** Until when facets are complete. */
  through(): Promise<Through>;
  read(question: FacetQuestion, through: Through): Promise<Facet[]>;
  /** For an answer that is complete enough without: undefined where Postgres does not answer the organization at once. */
  readIfQuick(question: FacetQuestion, inPlace?: InPlace): Promise<Facet[] | undefined>;
}

export function createFacetReader(db: Database): FacetReader {
  const answers = new LRUCache<string, { epoch: number; facets: Facet[] }>({
    maxSize: kept,
    sizeCalculation: ({ facets }) => facets.length + 1,
  });
  /** organizations that Postgres did not answer */
  const resting = new LRUCache<string, true>({ max: 10_000, ttl: restAfterFailure });
  let last: { at: number; through: Promise<Through> } | undefined;

  function through(): Promise<Through> {
    const now = performance.now();
    if (last && now - last.at < throughHolds) return last.through;
    const asked = db.read(facetsThrough);
    last = { at: now, through: asked };
    // the next one asks again
    asked.catch(() => {
      last = undefined;
    });
    return asked;
  }

  async function read(question: FacetQuestion, { epoch }: Through, inPlace = withoutPlace): Promise<Facet[]> {
    const key = nameOf(question);
    const known = answers.get(key);
    if (known?.epoch === epoch) return known.facets;
    const facets = await inPlace(() => db.read((sql) => readFacets(sql, question)));
    answers.set(key, { epoch, facets });
    return facets;
  }

  return {
    through,
    read,
    async readIfQuick(question, inPlace) {
      const { organizationId } = question;
      if (resting.has(organizationId)) return undefined;
      try {
        return await within(
          quick,
          through().then((until) => read(question, until, inPlace)),
        );
      } catch {
        resting.set(organizationId, true);
        return undefined;
      }
    },
  };
}
