/** The rates of an experiment's variants with their intervals, and what follows in words. */
import { conclusionOf, type Experiment, type Measured, measure, unevenness } from '../../data/experiments.ts';
import type { Interval } from '../../data/proportions.ts';
import { count, escapeInvisible, points, share, signedPoints } from '../../format.ts';
import { IntervalBar } from './interval-bar.tsx';

export function OneExperiment({ experiment }: { experiment: Experiment }) {
  const variants = measure(experiment);
  const warning = unevenness(experiment);
  const control = escapeInvisible(variants[0]?.name ?? '');
  const hasDisplays = variants.some(({ displays }) => displays !== undefined);
  const frame = frameOf(variants);
  return (
    <>
      <div class="experiment-says">
        {conclusionOf(experiment).map((sentence) => (
          <p key={sentence}>{sentence}</p>
        ))}
      </div>
      {warning && <p class="notice notice-bad">{warning}</p>}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling area must be reachable by keyboard */}
      <section class="table-frame" aria-label="Variants" tabIndex={0}>
        <table>
          <caption class="hidden">Opt-in rates by variant</caption>
          <thead>
            <tr>
              <th scope="col">Variant</th>
              {hasDisplays && (
                <th scope="col" class="number wide-only">
                  Displays
                </th>
              )}
              <th scope="col" class="number">
                Choices
              </th>
              <th scope="col" class="number wide-only">
                Opt-ins
              </th>
              <th scope="col" class="number">
                Opt-in rate
              </th>
              <th scope="col" class="interval-cell wide-only">
                95% interval
              </th>
              <th scope="col" class="number difference">
                Difference to “<bdi>{control}</bdi>”
              </th>
            </tr>
          </thead>
          <tbody>
            {variants.map((variant) => (
              <tr key={variant.name}>
                <th scope="row">
                  <bdi>{escapeInvisible(variant.name)}</bdi>
                </th>
                {hasDisplays && <td class="number wide-only">{count(variant.displays ?? 0)}</td>}
                <td class="number">{count(variant.all)}</td>
                <td class="number wide-only">{count(variant.part)}</td>
                <td class="number">
                  <strong>{variant.rate === null ? 'no choices yet' : share(variant.rate)}</strong>
                  {variant.interval && <span class="small muted">{shares(variant.interval)}</span>}
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
                      <span class="small muted">{inPoints(variant.difference.interval)}</span>
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
