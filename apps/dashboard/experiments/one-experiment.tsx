/** The rates of an experiment's variants with their intervals, and what follows in words. */
import { conclusionOf, type Experiment, type Measured, measure, unevenness } from '../data/experiment-figures.ts';
import type { Interval } from '../data/proportions.ts';
import { count, escapeInvisible, points, share, signedPoints } from '../format.ts';
import { isolated } from '../parts/isolated.tsx';
import { NumberHead } from '../parts/sort-head.tsx';

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
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling area must be reachable by keyboard */}
      <section class="table-frame" aria-label="Variants" tabIndex={0}>
        <table class="flush">
          <caption class="hidden">Opt-in rates by variant</caption>
          <thead>
            <tr>
              <th scope="col">Variant</th>
              {hasDisplays && <NumberHead class="wide-only">Displays</NumberHead>}
              <NumberHead>Choices</NumberHead>
              <NumberHead class="wide-only">Opt-ins</NumberHead>
              <NumberHead>Opt-in rate</NumberHead>
              <th scope="col" class="interval-cell wide-only">
                95% interval
              </th>
              <NumberHead class="difference">
                Difference to “<bdi>{control}</bdi>”
              </NumberHead>
            </tr>
          </thead>
          <tbody>
            {variants.map((variant) => (
              <tr key={variant.name}>
                <th scope="row" class="anywhere">
                  {isolated(variant.name)}
                </th>
                {hasDisplays && <td class="number wide-only">{count(variant.displays ?? 0)}</td>}
                <td class="number">{count(variant.all)}</td>
                <td class="number wide-only">{count(variant.part)}</td>
                <td class="number">
                  <strong>{variant.rate === null ? 'no choices yet' : share(variant.rate)}</strong>
                  {variant.interval && <p class="hint">{shares(variant.interval)}</p>}
                </td>
                <td class="interval-cell wide-only">
                  {variant.interval && variant.rate !== null && (
                    <IntervalBar interval={variant.interval} middle={variant.rate} frame={frame} />
                  )}
                </td>
                <td class="number">
                  {variant.difference ? (
                    <>
                      {points(0, variant.difference.points)}
                      <p class="hint">{inPoints(variant.difference.interval)}</p>
                    </>
                  ) : (
                    '–'
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </>
  );
}

const shares = ({ low, high }: Interval): string => `${share(low)} to ${share(high)}`;
const inPoints = ({ low, high }: Interval): string => `${signedPoints(low)} to ${signedPoints(high)}`;

/** What holds all intervals, with some room. */
function frameOf(variants: Measured[]): Interval {
  const ends = variants.flatMap(({ interval }) => (interval ? [interval.low, interval.high] : []));
  if (ends.length === 0) return { low: 0, high: 1 };
  const [low, high] = [Math.min(...ends), Math.max(...ends)];
  const room = (high - low) * 0.15;
  return { low: Math.max(0, low - room), high: Math.min(1, high + room) };
}

/** An interval beside those of the other variants. The figures stand beside it. */
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
