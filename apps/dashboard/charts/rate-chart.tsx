/** The opt-in rate as a line with its 95 % interval, the line of the previous period, and marks at changes. */
import './rate-chart.css';
import { rateIn } from '../data/group-rows.ts';
import { shareRange } from '../data/interval-words.ts';
import { type Proportion, wilson } from '../data/proportions.ts';
import { count, share } from '../format.ts';
import { Plot } from './plot.tsx';
import { type Figure, type Span, shareTicks, type Unit, yOf } from './scale.ts';

export interface RateSpan extends Span {
  now: Proportion;
  /** the rate of the previous period at the same offset; null after its end */
  before: Proportion | null;
  changed: string;
}

interface Props {
  label: string;
  unit: Unit;
  spans: readonly RateSpan[];
  /** name of the previous period; undefined without one */
  before: string | undefined;
  /** positions of changes, in spans from the start */
  marks: readonly number[];
}

export function RateChart({ label, unit, spans, before, marks }: Props) {
  // the wide intervals of few choices may be cut off
  const usual = spans.reduce((sum, { now }) => sum + now.all, 0) / spans.length;
  const ticks = shareTicks(
    spans.flatMap(({ now, before: then }) => [
      ...[rateIn(now), then && rateIn(then)].filter((rate) => rate !== null),
      ...(now.all > usual / 2 ? Object.values(wilson(now)) : []),
    ]),
  );
  const [lowest = 0, highest = 1] = [ticks[0], ticks.at(-1)];
  const partOf = (rate: number) => Math.min(1, Math.max(0, (rate - lowest) / (highest - lowest)));
  const y = (rate: number) => Math.round(yOf(partOf(rate)) * 100) / 100;
  return (
    <Plot
      label={label}
      unit={unit}
      spans={spans}
      figuresOf={figuresOf}
      lines={ticks.map((tick) => [`${Math.round(tick * 100)}%`, partOf(tick)])}
      draw={(slot) => {
        const now = runsOf(spans.map((span) => span.now));
        const then = runsOf(spans.map((span) => span.before));
        const x = (index: number) => Math.round((index + 0.5) * slot * 100) / 100;
        // a single value is drawn as a dot
        const line = (run: Run) => `M${run.map(([at, of]) => `${x(at)} ${y(of.part / of.all)}`).join('L')}h0`;
        const edge = (run: Run, end: 'low' | 'high') => run.map(([at, of]) => `${x(at)} ${y(wilson(of)[end])}`);
        const band = (run: Run) => `M${[...edge(run, 'high'), ...edge(run, 'low').reverse()].join('L')}z`;
        return (
          <>
            <path class="rate-band" d={now.map(band).join('')} />
            <path class="rate-line rate-before" d={then.map(line).join('')} />
            <path class="rate-line" d={now.map(line).join('')} />
          </>
        );
      }}
      legend={[
        ['rate-line', 'Opt-in rate'],
        ['rate-band', '95% interval'],
        ...(before === undefined ? [] : [['rate-line rate-before', before] as const]),
      ].map(([key, name]) => (
        <li key={key}>
          <svg class="key" viewBox="0 0 18 10" aria-hidden="true">
            <path class={key} d={key === 'rate-band' ? 'M0 0h18v10H0z' : 'M0 5h18'} />
          </svg>
          {name}
        </li>
      ))}
    >
      {marks.map((mark, index) => (
        <span key={mark} class="chart-mark" aria-hidden="true" style={{ left: `${(mark / spans.length) * 100}%` }}>
          {index + 1}
        </span>
      ))}
    </Plot>
  );
}

type Run = [index: number, of: Proportion][];

/** Splits the values into runs: a day without choices is a gap in the line. */
function runsOf(proportions: (Proportion | null)[]): Run[] {
  const runs: Run[] = [[]];
  proportions.forEach((of, index) => {
    if (of?.all) runs.at(-1)?.push([index, of]);
    else runs.push([]);
  });
  return runs.filter((run) => run.length > 0);
}

const figuresOf = ({ now, before, changed }: RateSpan): Figure[] => [
  { name: 'Opt-in rate', value: share(rateIn(now)) },
  { name: '95% interval', value: now.all > 0 ? shareRange(wilson(now)) : '–' },
  { name: 'Choices', value: count(now.all) },
  { name: 'Before', value: before ? share(rateIn(before)) : '' },
  { name: 'Changed', value: changed },
];
