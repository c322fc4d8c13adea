/** Figure and reference in turn, so that what else the machine does meets both. */
import type { Compared } from './measurement.ts';
import { median } from './quantiles.ts';

export async function alternate(
  rounds: number,
  measure: { reference: () => Promise<number>; figure: () => Promise<number> },
): Promise<Compared> {
  const references: number[] = [];
  const figures: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    references.push(await measure.reference());
    figures.push(await measure.figure());
  }
  const ratios = figures.map((figure, round) => figure / (references[round] ?? Number.NaN));
  return { figure: median(figures), reference: median(references), ratio: median(ratios) };
}
