/** Reads facets, and keeps what was read for as long as it holds. */
import { LRUCache } from 'lru-cache';
import type { Database } from '#libs/base/db/database';
import { within } from '#libs/base/within';
import { type Facet, type FacetQuestion, facetsThrough, readFacets, type Through } from './facets.ts';

/** facets of all answers together, some 300 bytes each */
const kept = 100_000;
/** milliseconds */
const throughHolds = 1_000;
/** milliseconds */
const quick = 250;
const restAfterFailure = 5_000;

export interface FacetReader {
  /** Until when facets are complete. */
  through(): Promise<Through>;
  read(question: FacetQuestion, through: Through): Promise<Facet[]>;
  /** For an answer that is complete enough without: undefined where Postgres does not answer at once. */
  readIfQuick(question: FacetQuestion): Promise<Facet[] | undefined>;
}

export function createFacetReader(db: Database): FacetReader {
  const answers = new LRUCache<string, { epoch: number; facets: Facet[] }>({
    maxSize: kept,
    sizeCalculation: ({ facets }) => facets.length + 1,
  });
  let restUntil = 0;
  let last: { at: number; through: Promise<Through> } | undefined;

  function through(): Promise<Through> {
    const now = performance.now();
    if (last && now - last.at < throughHolds) return last.through;
    const asked = db.run(facetsThrough);
    last = { at: now, through: asked };
    // the next one asks again
    asked.catch(() => {
      last = undefined;
    });
    return asked;
  }

  async function read(question: FacetQuestion, { epoch }: Through): Promise<Facet[]> {
    const key = JSON.stringify(question);
    const known = answers.get(key);
    if (known?.epoch === epoch) return known.facets;
    const facets = await db.run((sql) => readFacets(sql, question));
    answers.set(key, { epoch, facets });
    return facets;
  }

  return {
    through,
    read,
    async readIfQuick(question) {
      if (performance.now() < restUntil) return undefined;
      try {
        return await within(
          quick,
          through().then((until) => read(question, until)),
        );
      } catch {
        restUntil = performance.now() + restAfterFailure;
        return undefined;
      }
    },
  };
}
