/** The chart's arithmetic: grid lines, named days and the outlines of bars. */
import type { Breakdown } from '#libs/base/terms/terms';

/** Round whole numbers from 0 to at least `highest`, in at most five steps. */
export function countTicks(highest: number): number[] {
  const rough = Math.max(1, highest / 4);
  const magnitude = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((each) => each * magnitude).find((each) => each >= rough) ?? rough;
  const whole = Math.max(1, Math.ceil(step));
  return Array.from({ length: Math.max(1, Math.ceil(highest / whole)) + 1 }, (_, index) => index * whole);
}

/** Which of `length` buckets are named so that the names fit into `width` pixels. The last one always is. */
export function namedBuckets(length: number, width: number, nameWidth = 72): number[] {
  const every = Math.max(1, Math.ceil(length / Math.max(1, Math.floor(width / nameWidth))));
  const named: number[] = [];
  for (let index = length - 1; index >= 0; index -= every) named.unshift(index);
  return named;
}

export interface Bar {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** One path for all bars of a decision, so that a year of days is four elements. */
export function outline(bars: readonly Bar[], gap: number): string {
  return bars
    .filter(({ height }) => height > 0)
    .map(({ x, y, width, height }) => {
      // a gap between two decisions, unless the bar would vanish
      const high = Math.max(Math.min(height, 1), height - gap);
      const radius = Math.min(2, width / 4, high / 2);
      const at = (value: number) => Math.round(value * 100) / 100;
      return `M${at(x)} ${at(y + high)}v${at(radius - high)}q0 ${at(-radius)} ${at(radius)} ${at(-radius)}h${at(width - 2 * radius)}q${at(radius)} 0 ${at(radius)} ${at(radius)}v${at(high - radius)}z`;
    })
    .join('');
}

/** The decisions of one day or month. */
export interface Bucket extends Breakdown {
  total: number;
  /** null without choices; undefined where the service did not have it at hand */
  optInRate?: number | null | undefined;
  /** `Thu, 12 Nov 2026` */
  name: string;
  /** `12 Nov` */
  tick: string;
}
