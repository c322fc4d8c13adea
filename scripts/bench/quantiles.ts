const ascending = (values: Iterable<number>): number[] => [...values].sort((one, other) => one - other);

export function median(values: number[]): number {
  const sorted = ascending(values);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

/** The smallest value that at least `share` of all values do not exceed; NaN of none. */
export function quantile(values: Iterable<number>, share: number): number {
  const sorted = ascending(values);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}
