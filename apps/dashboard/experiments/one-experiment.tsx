/** The rates of an experiment's variants with their intervals, and the conclusions. */
import { conclusionOf, type Experiment, type Measured, measure, unevenness } from '../data/experiment-figures.ts';
import { pointRange, shareRange } from '../data/interval-words.ts';
import type { Interval } from '../data/proportions.ts';
import { count, escapeInvisible, points, share } from '../format.ts';
import { FramedTable } from '../parts/framed-table.tsx';
import { isolated } from '../parts/isolated.tsx';

export function OneExperiment({ experiment }: { experiment: Experiment }) {
  const variants = measure(experiment);
  const warning = unevenness(experiment);
  const control = escapeInvisible(variants[0]?.name ?? '');
  const hasDisplays = variants.some(({ displays }) => displays !== undefined);
  const frame = frameOf(variants);
  return (
    <>
      <div class="strong anywhere experiment-says">
        {conclusionOf(experiment).map((sentence) => (
          <p key={sentence}>{sentence}</p>
        ))}
      </div>
      {warning && <p class="notice notice-bad">{warning}</p>}
      <FramedTable
        class="flush"
        caption="Opt-in rates by variant"
        label="Variants"
        rows={variants}
        keyOf={({ name }) => name}
        columns={[
          { head: 'Variant', is: 'name', class: 'anywhere', cell: ({ name }) => isolated(name) },
          hasDisplays && { head: 'Displays', is: 'number', ...wide, cell: ({ displays = 0 }) => count(displays) },
          { head: 'Choices', is: 'number', cell: ({ all }) => count(all) },
          { head: 'Opt-ins', is: 'number', ...wide, cell: ({ part }) => count(part) },
          {
            head: 'Opt-in rate',
            is: 'number',
            cell: ({ rate, interval }) => (
              <>
                <strong>{rate === null ? 'no choices yet' : share(rate)}</strong>
                {interval && <p class="hint">{shareRange(interval)}</p>}
              </>
            ),
          },
          {
            head: '95% interval',
            headClass: 'interval-cell wide-only',
            class: 'interval-cell wide-only',
            cell: ({ rate, interval }) =>
              interval && rate !== null && <IntervalBar interval={interval} middle={rate} frame={frame} />,
          },
          {
            head: (
              <>
                Difference from “<bdi>{control}</bdi>”
              </>
            ),
            headClass: 'difference',
            is: 'number',
            cell: ({ difference }) =>
              difference ? (
                <>
                  {points(0, difference.points)}
                  <p class="hint">{pointRange(difference.interval)}</p>
                </>
              ) : (
                '–'
              ),
          },
        ]}
      />
    </>
  );
}

/** Hidden on phones. */
const wide = { headClass: 'wide-only', class: 'wide-only' };

/** The range of the axis: all intervals and a margin. */
function frameOf(variants: Measured[]): Interval {
  const ends = variants.flatMap(({ interval }) => (interval ? [interval.low, interval.high] : []));
  if (ends.length === 0) return { low: 0, high: 1 };
  const [low, high] = [Math.min(...ends), Math.max(...ends)];
  const room = (high - low) * 0.15;
  return { low: Math.max(0, low - room), high: Math.min(1, high + room) };
}

/** An interval on the axis that all variants share. */
function IntervalBar({ interval, middle, frame }: { interval: Interval; middle: number; frame: Interval }) {
  const at = (value: number) => `${((value - frame.low) / (frame.high - frame.low)) * 100}%`;
  const width = `${((interval.high - interval.low) / (frame.high - frame.low)) * 100}%`;
  return (
    <span class="interval" aria-hidden="true">
      <span style={{ left: at(interval.low), width }} />
      <i style={{ left: at(middle) }} />
    </span>
  );
}
