/**
 * The frame of a chart over days, weeks or months: grid lines, labels, a tooltip that a pointer or the keyboard (through a
 * range input) opens, and a table of all figures.
 */
import './chart.css';
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { ChartTable } from './chart-table.tsx';
import { type Figure, height, namedBuckets, type Span, type Unit, yOf } from './scale.ts';
import { Tooltip } from './tooltip.tsx';
import { useWidth } from './use-width.ts';

interface Props<Shown extends Span> {
  label: string;
  unit: Unit;
  spans: readonly Shown[];
  figuresOf(span: Shown): readonly Figure[];
  /** grid lines: label, and position from 0 to 1 */
  lines: readonly (readonly [string, number])[];
  /** `slot`: width of a day, week or month in pixels */
  draw(slot: number): ComponentChildren;
  /** drawn above the chart */
  children?: ComponentChildren;
  legend: ComponentChildren;
}

export function Plot<Shown extends Span>(props: Props<Shown>) {
  const { label, unit, spans, figuresOf, lines, draw, children, legend } = props;
  const { ref, width } = useWidth();
  const [selected, setSelected] = useState<number | null>(null);
  const last = spans.length - 1;
  const slot = width / spans.length;
  const at = selected === null ? null : Math.min(selected, last);
  const read = spans[at ?? last];

  // a tap elsewhere closes the tooltip
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
          {lines.map(([name, part]) => (
            <span key={name} style={{ top: `${yOf(part)}px` }}>
              {name}
            </span>
          ))}
        </div>
        <div
          class="chart-plot"
          ref={ref}
          onPointerMove={selectAt}
          onPointerDown={selectAt}
          onPointerLeave={({ pointerType }) => {
            // lifting a finger is reported as leaving
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
            aria-valuetext={read && spoken(read.name, figuresOf(read))}
            onFocus={() => setSelected((before) => before ?? last)}
            onBlur={() => setSelected(null)}
            onInput={(event) => setSelected(Number(event.currentTarget.value))}
          />
          {/* until it is redrawn, and on paper, the drawing is stretched to its box */}
          <svg height={height} viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" aria-hidden="true">
            {lines.map(([name, part], index) => (
              <path key={name} class={index === 0 ? 'chart-base' : 'chart-line'} d={`M0 ${yOf(part)}h${width}`} />
            ))}
            {at !== null && <rect class="chart-cursor" x={slot * at} y={0} width={slot} height={height} />}
            {draw(slot)}
          </svg>
          {children}
          {at !== null && read && (
            <Tooltip name={read.name} figures={figuresOf(read)} x={(at + 0.5) * slot} width={width} />
          )}
          <div class="chart-names" aria-hidden="true">
            {namedBuckets(spans.length, width).map((index) => (
              <span
                key={index}
                // the last label is right-aligned if it does not fit below its bar
                style={
                  index === last && slot < 72
                    ? { right: '0' }
                    : { left: `${((index + 0.5) / spans.length) * 100}%`, transform: 'translateX(-50%)' }
                }
              >
                {spans[index]?.tick}
              </span>
            ))}
          </div>
        </div>
      </div>
      <div class="cluster spread small chart-foot">
        <ul class="cluster legend" aria-hidden="true">
          {legend}
        </ul>
        <span class="muted">{unit}s are UTC</span>
      </div>
      <ChartTable label={label} unit={unit} spans={spans} figuresOf={figuresOf} />
    </figure>
  );
}

const spoken = (name: string, figures: readonly Figure[]): string =>
  `${name}: ${figures.flatMap((figure) => (figure.value ? `${figure.name} ${figure.value}` : [])).join(', ')}`;
