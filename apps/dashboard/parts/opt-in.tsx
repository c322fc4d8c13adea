/** The rate that everybody asks for, with its formula beside it. */
import type { Breakdown } from '#libs/contract/terms';
import { optInFormula, optInMeaning, optInRate } from '../decisions.ts';
import { points, share } from '../format.ts';
import { Change, Figure } from './figure.tsx';

export function OptIn({
  breakdown,
  compared,
}: {
  breakdown: Breakdown;
  /** the two stretches that the change is between, and how they are called */
  compared: { now: Breakdown; before: Breakdown; words: string };
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
          `Nothing to compare with: ${compared.words}`
        ) : (
          <>
            <Change text={points(before, now)} direction={Math.round((now - before) * 1000)} /> {compared.words}
          </>
        )
      }
    >
      <details class="explain">
        <summary>How it is counted</summary>
        <p>
          {optInMeaning} It is {optInFormula}.
        </p>
      </details>
    </Figure>
  );
}
