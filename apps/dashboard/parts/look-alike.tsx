/** An address that nobody has checked may be made to look like one of the owner's. */
import { isolated } from './isolated.tsx';
import { resembled } from './resembled.ts';

/** `origins`: the list */
export function LookAlike({ origin, origins }: { origin: string; origins: string[] }) {
  const own = resembled(origin, origins);
  if (own === undefined) return null;
  return <strong class="hint">It looks like {isolated(own)}, but is another website.</strong>;
}
