/**
 * Decisions by day or month as stacked bars. The SVG has one path for each decision, however long the period is, and its
 * colours come from the stylesheet. A pointer or the keyboard (through a range input) opens the tooltip of a bar, and a
 * table has the same figures.
 */
import './chart.css';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { colourOf, decisionNames, decisions } from '../data/decisions.ts';
import { count, share, shortCount } from '../format.ts';
import { ChartTable } from './chart-table.tsx';
import { type Bar, type Bucket, countTicks, namedBuckets, outline } from './scale.ts';
import { Swatch } from './swatch.tsx';
import { Tooltip } from './tooltip.tsx';
import { useWidth } from './use-width.ts';

/** Pixels. */
const height = 260;
const top = 8;

export function StackedChart({ label, buckets, unit }: { label: string; buckets: Bucket[]; unit: 'Day' | 'Month' }) {
  const { ref, width } = useWidth();
  const [selected, setSelected] = useState<number | null>(null);
  const last = buckets.length - 1;
  const ticks = useMemo(() => countTicks(Math.max(0, ...buckets.map(({ total }) => total))), [buckets]);
  const highest = ticks.at(-1) ?? 1;
  const slot = width / buckets.length;
  const paths = useMemo(() => stack(buckets, slot, highest), [buckets, slot, highest]);
  const shown = selected === null ? undefined : buckets[Math.min(selected, last)];
  const y = (value: number) => top + (1 - value / highest) * (height - top);

  // a tap elsewhere closes what a tap has opened
  const isSelected = selected !== null;
  useEffect(() => {
    if (!isSelected) return undefined;
    const onElsewhere = ({ target, pointerType }: PointerEvent) => {
      if (pointerType === 'touch' && target instanceof Node && !ref.current?.contains(target)) setSelected(null);
    };
    document.addEventListener('pointerdown', onElsewhere);
    return () => document.removeEventListener('pointerdown', onElsewhere);
  }, [isSelected]);

  const selectAt = (event: PointerEvent) => {
    const box = ref.current?.getBoundingClientRect();
    if (box && slot > 0) setSelected(Math.min(last, Math.max(0, Math.floor((event.clientX - box.left) / slot))));
  };

  return (
    <figure class="chart">
      <figcaption class="hidden">{label}</figcaption>
      <div class="chart-body">
        <div class="chart-counts" aria-hidden="true">
          {ticks.map((tick) => (
            <span key={tick} style={{ top: `${y(tick)}px` }}>
              {shortCount(tick)}
            </span>
          ))}
        </div>
        <div
          class="chart-plot"
          ref={ref}
          onPointerMove={selectAt}
          onPointerDown={selectAt}
          onPointerLeave={({ pointerType }) => {
            // lifting a finger counts as leaving
            if (pointerType !== 'touch') setSelected(null);
          }}
        >
          <input
            class="chart-reader"
            type="range"
            min={0}
            max={last}
            value={selected ?? last}
            aria-label={`${label}: read one ${unit.toLowerCase()}`}
            aria-valuetext={spoken(buckets[selected ?? last])}
            onFocus={() => setSelected((before) => before ?? last)}
            onBlur={() => setSelected(null)}
            onInput={(event) => setSelected(Number(event.currentTarget.value))}
          />
          <svg width={width} height={height} aria-hidden="true">
            {ticks.map((tick) => (
              <line
                key={tick}
                class={tick === 0 ? 'chart-base' : 'chart-line'}
                x1={0}
                x2={width}
                y1={y(tick)}
                y2={y(tick)}
              />
            ))}
            {selected !== null && (
              <rect class="chart-cursor" x={slot * Math.min(selected, last)} y={0} width={slot} height={height} />
            )}
            {paths.map(({ name, path }) => (
              <path key={name} d={path} style={{ fill: colourOf(name) }} />
            ))}
          </svg>
          {shown && <Tooltip bucket={shown} x={(Math.min(selected ?? 0, last) + 0.5) * slot} width={width} />}
          <div class="chart-names" aria-hidden="true">
            {namedBuckets(buckets.length, width).map((index) => (
              // the last name ends with the plot, and a single one is centred below its bar
              <span
                key={index}
                style={
                  last === 0
                    ? { left: '50%', transform: 'translateX(-50%)' }
                    : index === last
                      ? { right: '0' }
                      : { left: `${((index + 0.5) / buckets.length) * 100}%` }
                }
              >
                {buckets[index]?.tick}
              </span>
            ))}
          </div>
        </div>
      </div>
      <div class="cluster spread small chart-foot">
        <ul class="cluster legend" aria-hidden="true">
          {decisions.map((name) => (
            <li key={name}>
              <Swatch decision={name} />
              {decisionNames[name]}
            </li>
          ))}
        </ul>
        <span class="muted">{unit === 'Day' ? 'Days are UTC' : 'Months are UTC'}</span>
      </div>
      <ChartTable label={label} buckets={buckets} unit={unit} />
    </figure>
  );
}

function stack(buckets: Bucket[], slot: number, highest: number) {
  const space = slot > 5 ? Math.min(slot * 0.28, 14) : slot > 3 ? 1 : 0;
  const scale = (height - top) / highest;
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

const spoken = (bucket: Bucket | undefined): string =>
  bucket
    ? [
        `${bucket.name}: ${count(bucket.total)} decisions`,
        ...decisions.map((name) => `${decisionNames[name]} ${count(bucket[name])}`),
        `opt-in rate ${share(bucket.optInRate ?? null)}`,
      ].join(', ')
    : '';
