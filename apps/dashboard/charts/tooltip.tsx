/** The figures of one bar. */
import { decisionNames, decisions } from '../data/decisions.ts';
import { count, share } from '../format.ts';
import type { Bucket } from './scale.ts';
import { Swatch } from './swatch.tsx';

/** Pixels. */
const tooltipWidth = 224;
const distance = 18;

/** Placed beside the bar, and never outside the plot. `x` is the middle of the bar. */
export function Tooltip({ bucket, x, width }: { bucket: Bucket; x: number; width: number }) {
  const beside = x > width / 2 ? x - tooltipWidth - distance : x + distance;
  const left = Math.max(0, Math.min(beside, width - tooltipWidth));
  return (
    <div class="tip" style={{ left: `${left}px`, width: `${tooltipWidth}px` }} aria-hidden="true">
      <strong>{bucket.name}</strong>
      <dl class="stack gap-4">
        {[...decisions].reverse().map((name) => (
          <div key={name}>
            <dt>
              <Swatch decision={name} />
              {decisionNames[name]}
            </dt>
            <dd>{count(bucket[name])}</dd>
          </div>
        ))}
        <div class="tip-sum">
          <dt>Decisions</dt>
          <dd>{count(bucket.total)}</dd>
        </div>
        <div>
          <dt>Opt-in rate</dt>
          <dd>{share(bucket.optInRate ?? null)}</dd>
        </div>
      </dl>
    </div>
  );
}
