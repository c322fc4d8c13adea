/** Decisions by day, week or month as stacked bars. Each decision is a single path, however long the period is. */
import { useMemo } from 'preact/hooks';
import { colourOf, decisionNames, decisions } from '../data/decisions.ts';
import { count, share, shortCount } from '../format.ts';
import { Plot } from './plot.tsx';
import { type Bar, type Bucket, countTicks, type Figure, height, outline, type Unit, yOf } from './scale.ts';
import { Swatch } from './swatch.tsx';

export function StackedChart({ label, buckets, unit }: { label: string; buckets: Bucket[]; unit: Unit }) {
  const ticks = useMemo(() => countTicks(Math.max(0, ...buckets.map(({ total }) => total))), [buckets]);
  const highest = ticks.at(-1) ?? 1;
  return (
    <Plot
      label={label}
      unit={unit}
      spans={buckets}
      figuresOf={figuresOf}
      lines={ticks.map((tick) => [shortCount(tick), tick / highest])}
      draw={(slot) => <Bars buckets={buckets} slot={slot} highest={highest} />}
      legend={decisions.map((name) => (
        <li key={name}>
          <Swatch decision={name} />
          {decisionNames[name]}
        </li>
      ))}
    />
  );
}

const figuresOf = ({ total, optInRate = null, ...counts }: Bucket): Figure[] => [
  ...decisions.map((name) => ({ name: decisionNames[name], value: count(counts[name]), decision: name })),
  { name: 'Decisions', value: count(total) },
  { name: 'Opt-in rate', value: share(optInRate) },
];

function Bars({ buckets, slot, highest }: { buckets: Bucket[]; slot: number; highest: number }) {
  const paths = useMemo(() => stack(buckets, slot, highest), [buckets, slot, highest]);
  return (
    <>
      <pattern id="hatch" width="4" height="4" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
        <path class="chart-hatch" d="M1 0v4" />
      </pattern>
      {paths.map(({ name, path }) => (
        <path key={name} d={path} style={{ fill: name === 'withdraw' ? 'url(#hatch)' : colourOf(name) }} />
      ))}
    </>
  );
}

function stack(buckets: Bucket[], slot: number, highest: number) {
  const space = slot > 5 ? Math.min(slot * 0.28, 14) : slot > 3 ? 1 : 0;
  const scale = (height - yOf(1)) / highest;
  const floors = buckets.map(() => height);
  return decisions.map((name) => {
    const bars = buckets.map((bucket, index): Bar => {
      const tall = bucket[name] * scale;
      const y = (floors[index] ?? height) - tall;
      floors[index] = y;
      return { x: index * slot + space / 2, y, width: slot - space, height: tall };
    });
    return { name, path: slot > 0 ? outline(bars, slot > 5 ? 1.5 : 0) : '' };
  });
}
