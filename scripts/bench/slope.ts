/** Whether something that is looked at again and again grows. */
import type { Figures } from './figures.ts';

/** One look at many things, by name. */
export interface Sample {
  /** milliseconds of `performance.now()` */
  at: number;
  values: Record<string, number>;
}

const hour = 3_600_000;

/** By least squares, an hour. NaN of fewer than two points. */
export function slopeOf(points: { at: number; value: number }[]): number {
  const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [middle, level] = [mean(points.map(({ at }) => at)), mean(points.map(({ value }) => value))];
  const along = points.reduce((sum, { at, value }) => sum + (at - middle) * (value - level), 0);
  const spread = points.reduce((sum, { at }) => sum + (at - middle) ** 2, 0);
  return (along / spread) * hour;
}

/** Of each name: its mean, and by how much of that it grows in an hour. */
export function growth(name: string, samples: Sample[], units: Record<string, string>): Figures {
  const figures: Figures = {};
  for (const [what, unit] of Object.entries(units)) {
    const points = samples.map(({ at, values }) => ({ at, value: values[what] ?? Number.NaN }));
    const mean = points.reduce((sum, { value }) => sum + value, 0) / points.length;
    const slope = slopeOf(points);
    figures[`${name}: ${what}`] = { value: mean, unit };
    figures[`${name}: ${what}, slope`] = { value: mean === 0 ? slope : (slope / mean) * 100, unit: '% an hour' };
  }
  return figures;
}
