/** Statistics of proportions, for the conclusions of an experiment. Pure functions of counts. */

export interface Proportion {
  /** how many of all */
  part: number;
  all: number;
}

/** Lower and upper end: shares from 0 to 1, or a difference of shares from −1 to 1. */
export interface Interval {
  low: number;
  high: number;
}

/** 95 % of a normal distribution lie within this many standard deviations */
const z = 1.959963984540054;

/**
 * Wilson's score interval, 95 % (Wilson 1927; method 3 in Newcombe 1998, "Two-sided confidence intervals for the single
 * proportion").
 */
export function wilson({ part, all }: Proportion): Interval {
  const share = part / all;
  const middle = share + z ** 2 / (2 * all);
  const reach = z * Math.sqrt((share * (1 - share)) / all + z ** 2 / (4 * all ** 2));
  const scale = 1 + z ** 2 / all;
  return { low: Math.max(0, (middle - reach) / scale), high: Math.min(1, (middle + reach) / scale) };
}

/**
 * The interval of `one` − `other`, 95 %, from the Wilson intervals of both (method 10 in Newcombe 1998, "Interval
 * estimation for the difference between independent proportions").
 */
export function newcombe(one: Proportion, other: Proportion): Interval {
  const difference = one.part / one.all - other.part / other.all;
  const [first, second] = [wilson(one), wilson(other)];
  const [p, q] = [one.part / one.all, other.part / other.all];
  return {
    low: difference - Math.hypot(p - first.low, second.high - q),
    high: difference + Math.hypot(first.high - p, q - second.low),
  };
}

/** choices that each side needs before two rates are compared */
export const fewest = 30;

export interface Difference {
  points: number;
  interval: Interval;
  /** Whether the interval excludes 0, so that chance is an unlikely explanation. */
  isClear: boolean;
}

/** The difference of two rates with its 95 % interval; null if either has too few choices. */
export function differenceOf(now: Proportion, before: Proportion): Difference | null {
  if (Math.min(now.all, before.all) < fewest) return null;
  const interval = newcombe(now, before);
  const points = now.part / now.all - before.part / before.all;
  return { points, interval, isClear: interval.low > 0 || interval.high < 0 };
}
