/** A warning about an unverified address that resembles one of the owner's. */
import { isolated } from './isolated.tsx';
import { resembled } from './resembled.ts';

/** `origins`: the domain's list */
export function LookAlike({ origin, origins }: { origin: string; origins: string[] }) {
  const own = resembled(origin, origins);
  if (own === undefined) return null;
  return <strong class="hint">It looks like {isolated(own)}, but is another website.</strong>;
}
