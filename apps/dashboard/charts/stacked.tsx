/**
 * Decisions by day or month, stacked. Drawn as SVG by hand: four paths whatever the period, coloured by the style sheet
 * in both schemes. A pointer reads it, so does the keyboard through a range input, and a table has the same figures.
 */
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Breakdown } from '#libs/contract/terms';
import { decisionNames, decisions, optInRate } from '../data/decisions.ts';
import { count, share, shortCount } from '../format.ts';
import { Swatch } from '../parts/decision.tsx';
import { type Bar, countTicks, namedBuckets, outline } from './scale.ts';

export interface Bucket extends Breakdown {
  total: number;
  /** `Thu, 12 Nov 2026` */
  name: string;
  /** `12 Nov` */
  tick: string;
}

/** Pixels. */
const height = 260;
const top = 8;
const tipWidth = 224;
const tipSpace = 18;

function useWidth() {
  const ref = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const element = ref.current;
    if (!element) return undefined;
    setWidth(element.clientWidth);
    const observer = new ResizeObserver(() => setWidth(element.clientWidth));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return { ref, width };
}

export function StackedChart({ label, buckets, unit }: { label: string; buckets: Bucket[]; unit: 'Day' | 'Month' }) {
  const { ref, width } = useWidth();
  const [read, setRead] = useState<number | null>(null);
  const last = buckets.length - 1;
  const ticks = useMemo(() => countTicks(Math.max(0, ...buckets.map(({ total }) => total))), [buckets]);
  const highest = ticks.at(-1) ?? 1;
  const slot = width / buckets.length;
  const paths = useMemo(() => stack(buckets, slot, highest), [buckets, slot, highest]);
  const shown = read === null ? undefined : buckets[Math.min(read, last)];
  const y = (value: number) => top + (1 - value / highest) * (height - top);

  // what a finger has opened is closed by a tap elsewhere
  const isRead = read !== null;
  useEffect(() => {
    if (!isRead) return undefined;
    const onElsewhere = ({ target, pointerType }: PointerEvent) => {
      if (pointerType === 'touch' && target instanceof Node && !ref.current?.contains(target)) setRead(null);
    };
    document.addEventListener('pointerdown', onElsewhere);
    return () => document.removeEventListener('pointerdown', onElsewhere);
  }, [isRead]);

  const readAt = (event: PointerEvent) => {
    const box = ref.current?.getBoundingClientRect();
    if (box && slot > 0) setRead(Math.min(last, Math.max(0, Math.floor((event.clientX - box.left) / slot))));
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
          onPointerMove={readAt}
          onPointerDown={readAt}
          onPointerLeave={({ pointerType }) => {
            // a finger leaves as soon as it is lifted
            if (pointerType !== 'touch') setRead(null);
          }}
        >
          <input
            class="chart-reader"
            type="range"
            min={0}
            max={last}
            value={read ?? last}
            aria-label={`${label}: read one ${unit.toLowerCase()}`}
            aria-valuetext={spoken(buckets[read ?? last])}
            onFocus={() => setRead((before) => before ?? last)}
            onBlur={() => setRead(null)}
            onInput={(event) => setRead(Number(event.currentTarget.value))}
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
            {read !== null && (
              <rect class="chart-cursor" x={slot * Math.min(read, last)} y={0} width={slot} height={height} />
            )}
            {paths.map(({ name, path }) => (
              <path key={name} class={`fill-${name}`} d={path} />
            ))}
          </svg>
          {shown && <Tip bucket={shown} x={(Math.min(read ?? 0, last) + 0.5) * slot} width={width} />}
          <div class="chart-names" aria-hidden="true">
            {namedBuckets(buckets.length, width).map((index) => (
              // the last name ends where the plot does, and the only one stands below its bar
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
      <div class="chart-foot">
        <ul class="legend" aria-hidden="true">
          {decisions.map((name) => (
            <li key={name}>
              <Swatch decision={name} />
              {decisionNames[name]}
            </li>
          ))}
        </ul>
        <span class="muted">{unit === 'Day' ? 'Days are UTC' : 'Months are UTC'}</span>
      </div>
      <Figures label={label} buckets={buckets} unit={unit} />
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
        `opt-in rate ${share(optInRate(bucket))}`,
      ].join(', ')
    : '';

/** Beside what it tells of, and never outside the plot. */
function Tip({ bucket, x, width }: { bucket: Bucket; x: number; width: number }) {
  const beside = x > width / 2 ? x - tipWidth - tipSpace : x + tipSpace;
  const left = Math.max(0, Math.min(beside, width - tipWidth));
  return (
    <div class="tip" style={{ left: `${left}px`, width: `${tipWidth}px` }} aria-hidden="true">
      <strong>{bucket.name}</strong>
      <dl>
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
          <dd>{share(optInRate(bucket))}</dd>
        </div>
      </dl>
    </div>
  );
}

/** Its rows are made once somebody opens it. */
function Figures({ label, buckets, unit }: { label: string; buckets: Bucket[]; unit: string }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details class="figures" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Show as a table</summary>
      {isOpen && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by the keyboard
        <section class="table-frame" aria-label={`${label}, as a table`} tabIndex={0}>
          <table>
            <caption class="hidden">{label}</caption>
            <thead>
              <tr>
                <th scope="col">{unit} (UTC)</th>
                {decisions.map((name) => (
                  <th key={name} scope="col" class="number">
                    {decisionNames[name]}
                  </th>
                ))}
                <th scope="col" class="number">
                  Decisions
                </th>
                <th scope="col" class="number">
                  Opt-in rate
                </th>
              </tr>
            </thead>
            <tbody>
              {[...buckets].reverse().map((bucket) => (
                <tr key={bucket.name}>
                  <th scope="row">{bucket.name}</th>
                  {decisions.map((name) => (
                    <td key={name} class="number">
                      {count(bucket[name])}
                    </td>
                  ))}
                  <td class="number">{count(bucket.total)}</td>
                  <td class="number">{share(optInRate(bucket))}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
    </details>
  );
}
