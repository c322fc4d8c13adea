/** How many exports there may be at once: each takes Postgres' time for as long as its client reads. */
import { Problem } from '#libs/contract/problem';

/** in this process */
const places = 8;
/** seconds */
const retryAfter = 10;

export interface ExportPlaces {
  /** Throws a 429 where there is no place. What it answers gives the place back. */
  take(organizationId: string): () => void;
}

export function createExportPlaces(): ExportPlaces {
  const taken = new Set<string>();
  return {
    take: (organizationId) => {
      if (taken.has(organizationId)) throw refuse('your organization has an export that is not finished');
      if (taken.size >= places) throw refuse('too many exports are running; try again');
      taken.add(organizationId);
      return () => taken.delete(organizationId);
    },
  };
}

const refuse = (detail: string): Problem =>
  new Problem('rate_limited', detail, { headers: { 'Retry-After': String(retryAfter) } });
