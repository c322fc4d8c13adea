/** Figure and reference under the same conditions, so that what else the machine does meets both. */
import type { Compared } from './measurement.ts';
import { median } from './quantiles.ts';

interface Measure {
  reference: () => Promise<number>;
  figure: () => Promise<number>;
}

/** One after the other, in turn. */
export async function alternate(rounds: number, { reference, figure }: Measure): Promise<Compared> {
  const pairs: Pair[] = [];
  for (let round = 0; round < rounds; round += 1) pairs.push([await reference(), await figure()]);
  return inMedian(pairs);
}

/** Both at the same time: for two that differ by less than the machine does between one moment and the next. */
export async function alongside(rounds: number, { reference, figure }: Measure): Promise<Compared> {
  const pairs: Pair[] = [];
  for (let round = 0; round < rounds; round += 1) pairs.push(await Promise.all([reference(), figure()]));
  return inMedian(pairs);
}

type Pair = [reference: number, figure: number];

function inMedian(pairs: Pair[]): Compared {
  return {
    figure: median(pairs.map(([, figure]) => figure)),
    reference: median(pairs.map(([reference]) => reference)),
    ratio: median(pairs.map(([reference, figure]) => figure / reference)),
  };
}
