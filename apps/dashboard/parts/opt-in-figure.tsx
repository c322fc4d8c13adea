/** The opt-in rate and its change between two periods. */
import type { Breakdown } from '#libs/contract/terms';
import { optInRate } from '../data/decisions.ts';
import { points, share } from '../format.ts';
import { Change, Figure } from './figure.tsx';

export function OptInFigure({
  breakdown,
  compared,
}: {
  breakdown: Breakdown;
  /** both periods, the words after the change, and the words where there is nothing to compare with */
  compared: { now: Breakdown; before: Breakdown; description: string; without: string };
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
            <Change text={points(before, now)} /> {compared.description}
          </>
        )
      }
    />
  );
}
