/** The rate that everybody asks for, and how it moved. */
import type { Breakdown } from '#libs/contract/terms';
import { optInRate } from '../data/decisions.ts';
import { points, share } from '../format.ts';
import { Change, Figure } from './figure.tsx';

export function OptIn({
  breakdown,
  compared,
}: {
  breakdown: Breakdown;
  /** the two stretches that the change is between, and how they are called */
  compared: { now: Breakdown; before: Breakdown; words: string; without: string };
}) {
  const rate = optInRate(breakdown);
  const now = optInRate(compared.now);
  const before = optInRate(compared.before);
  return (
    <Figure
      name="Opt-in rate"
      value={share(rate)}
      note={
        now === null || before === null ? (
          `Nothing to compare with ${compared.without}`
        ) : (
          <>
            <Change text={points(before, now)} /> {compared.words}
          </>
        )
      }
    />
  );
}
