/** An interval beside those of the other variants. The figures stand beside it. */
import type { Interval } from '../../data/proportions.ts';

export function IntervalBar({ interval, middle, frame }: { interval: Interval; middle: number; frame: Interval }) {
  const at = (value: number) => `${((value - frame.low) / (frame.high - frame.low)) * 100}%`;
  const width = `${((interval.high - interval.low) / (frame.high - frame.low)) * 100}%`;
  return (
    <span class="interval" aria-hidden="true">
      <span style={{ left: at(interval.low), width }} />
      <i style={{ left: at(middle) }} />
    </span>
  );
}
