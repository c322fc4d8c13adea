/** Arithmetic of charts: grid lines, labelled days and the outlines of bars. */
import type { Breakdown, Decision } from '#libs/base/terms/terms';
import type { Rated } from '../data/group-rows.ts';

/** height of a drawing and of the space above its highest line, in pixels */
export const height = 260;
const top = 8;
/** vertical position of a share from 0 to 1, in pixels */
export const yOf = (part: number): number => top + (1 - part) * (height - top);

/** Round whole numbers from 0 to at least `highest`, in at most five steps. */
export function countTicks(highest: number): number[] {
  const rough = Math.max(1, highest / 4);
  const magnitude = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((each) => each * magnitude).find((each) => each >= rough) ?? rough;
  const whole = Math.max(1, Math.ceil(step));
  return Array.from({ length: Math.max(1, Math.ceil(highest / whole)) + 1 }, (_, index) => index * whole);
}

const shareSteps = [0.01, 0.02, 0.05, 0.1, 0.2];

/** Round shares that enclose all of these, in at most five steps; 0 to 1 if there are none. */
export function shareTicks(shares: readonly number[]): number[] {
  const [low, high] = shares.length > 0 ? [Math.min(...shares), Math.max(...shares)] : [0, 1];
  const ends = (step: number) => [Math.floor(low / step), Math.max(Math.ceil(high / step), Math.floor(low / step) + 1)];
  const step = shareSteps.find((each) => ends(each).reduce((from, to) => to - from) <= 5) ?? 0.2;
  const [first = 0, last = 5] = ends(step);
  return Array.from({ length: last - first + 1 }, (_, index) => (first + index) * step);
}

/** Chooses the buckets that get a label, so that the labels fit into `width` pixels. The last one always has one. */
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
      // leaves a gap between two decisions, unless the bar would vanish
      const high = Math.max(Math.min(height, 1), height - gap);
      const radius = Math.min(2, width / 4, high / 2);
      const at = (value: number) => Math.round(value * 100) / 100;
      return `M${at(x)} ${at(y + high)}v${at(radius - high)}q0 ${at(-radius)} ${at(radius)} ${at(-radius)}h${at(width - 2 * radius)}q${at(radius)} 0 ${at(radius)} ${at(radius)}v${at(high - radius)}z`;
    })
    .join('');
}

export type Unit = 'Day' | 'Week' | 'Month';

export interface Span {
  /** `Thu, 12 Nov 2026` */
  name: string;
  /** `12 Nov` */
  tick: string;
}

export interface Figure {
  name: string;
  /** '' if there is none */
  value: string;
  decision?: Decision;
}

/** The decisions of one day, week or month. The rate is undefined if the service did not send it. */
export interface Bucket extends Breakdown, Rated, Span {
  total: number;
}
