/** Tests whether variants were assigned in equal shares. */

/** The probability of counts at least this uneven under equal shares (Pearson's chi-square test). At least two counts. */
export function equalSharesP(counts: readonly number[]): number {
  const expected = counts.reduce((sum, count) => sum + count, 0) / counts.length;
  if (expected === 0) return 1;
  const statistic = counts.reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0);
  return chiSquareAbove(statistic, counts.length - 1);
}

/** The upper tail of the chi-square distribution, by its recurrence over degrees of freedom. */
function chiSquareAbove(x: number, degrees: number): number {
  const half = x / 2;
  const isOdd = degrees % 2 === 1;
  let tail = isOdd ? complementaryError(Math.sqrt(half)) : Math.exp(-half);
  let term = isOdd ? Math.sqrt(half / Math.PI) * 2 * Math.exp(-half) : half * Math.exp(-half);
  for (let reached = isOdd ? 1 : 2; reached < degrees; reached += 2) {
    tail += term;
    term *= half / (reached / 2 + 1);
  }
  return Math.min(1, tail);
}

/** erfc for x ≥ 0, to 1.2e-7 of its value (Chebyshev fit: Numerical Recipes, "erfcc"). */
function complementaryError(x: number): number {
  const t = 1 / (1 + x / 2);
  const terms = [
    -1.26551223, 1.00002368, 0.37409196, 0.09678418, -0.18628806, 0.27886807, -1.13520398, 1.48851587, -0.82215223,
    0.17087277,
  ];
  return t * Math.exp(terms.reduceRight((sum, term) => sum * t + term, 0) - x ** 2);
}
