/** How many imports there may be at once: each takes the stores' time for as long as its client sends. */
import { Problem } from '#libs/contract/problem';

/** in this process */
const places = 8;
/** of these, for one organization */
const placesOfOne = 4;
/** seconds */
const retryAfter = 10;

export interface ImportPlaces {
  /** Throws a 429 where there is no place. What it answers gives the place back; call it once. */
  take(organizationId: string): () => void;
}

export function createImportPlaces(): ImportPlaces {
  /** the organization of each import */
  const taken: string[] = [];
  return {
    take: (organizationId) => {
      const own = taken.filter((each) => each === organizationId);
      if (own.length >= placesOfOne) throw refuse(`your organization has ${placesOfOne} imports that are not finished`);
      if (taken.length >= places) throw refuse('too many imports are running; try again');
      taken.push(organizationId);
      return () => taken.splice(taken.indexOf(organizationId), 1);
    },
  };
}

const refuse = (detail: string): Problem =>
  new Problem('rate_limited', detail, { headers: { 'Retry-After': String(retryAfter) } });
