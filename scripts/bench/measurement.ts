/** What a measurement is, and what it gives: rows of a figure, beside its reference where it has one. */
import type { Bench } from './stack.ts';

export interface Target {
  /** what is held against the value */
  of: 'figure' | 'ratio';
  is: 'at least' | 'at most';
  value: number;
}

export interface Row {
  name: string;
  figure: number;
  unit: string;
  reference?: number;
  /** the median of the rounds' own ratios of figure to reference */
  ratio?: number;
  /** absent: the figure is only reported */
  target?: Target;
  met?: boolean;
  /** so far from the target that a noisy machine does not explain it: half of it, or twice it */
  gross?: boolean;
  note?: string;
}

/** How much is measured: everything that differs between the whole bench and `--quick`. */
export interface Scale {
  rounds: number;
  /** of one round at full load */
  seconds: number;
  /** rounds in which two processes are compared that differ little, and seconds of one */
  pairs: number;
  pairSeconds: number;
  /** of one round in which records go all the way */
  endToEndSeconds: number;
  /** records that wait for `drain`, and for `drain-small` */
  backlog: number;
  smallBacklog: number;
  burst: number;
  /** decisions that `fresh` follows to the statistics, at least */
  followed: number;
  /** records of the large data set and of the small one that it is compared with */
  large: number;
  small: number;
}

export interface Measurement {
  name: string;
  about: string;
  /** left out of `--quick` */
  slow?: boolean;
  run(bench: Bench, scale: Scale): Promise<Row[]>;
}

export const atLeast = (value: number): Omit<Target, 'of'> => ({ is: 'at least', value });
export const atMost = (value: number): Omit<Target, 'of'> => ({ is: 'at most', value });

export interface Compared {
  figure: number;
  reference: number;
  ratio: number;
}

/** A figure that is judged beside its reference. */
export function compared(name: string, unit: string, measured: Compared, target?: Omit<Target, 'of'>): Row {
  return judge({ name, unit, ...measured }, target && { of: 'ratio', ...target });
}

/** A figure that is judged by itself. */
export function single(name: string, unit: string, figure: number, target?: Omit<Target, 'of'>): Row {
  return judge({ name, unit, figure }, target && { of: 'figure', ...target });
}

function judge(row: Row, target: Target | undefined): Row {
  if (!target) return row;
  const value = (target.of === 'ratio' ? row.ratio : row.figure) ?? Number.NaN;
  const least = target.is === 'at least';
  const met = least ? value >= target.value : value <= target.value;
  const gross = least ? !(value >= target.value / 2) : !(value <= target.value * 2);
  return { ...row, target, met, gross };
}
