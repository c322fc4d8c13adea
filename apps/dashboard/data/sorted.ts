export interface Sort<Column extends string> {
  by: Column;
  isDescending: boolean;
}

/** Sorts by text or number. Rows without a value come last in both directions. */
export function sorted<T>(rows: readonly T[], valueIn: (row: T) => string | number | null, isDescending: boolean): T[] {
  const direction = isDescending ? -1 : 1;
  return rows.toSorted((one, other) => {
    const [a, b] = [valueIn(one), valueIn(other)];
    if (a === null || b === null) return Number(a === null) - Number(b === null);
    return direction * (typeof a === 'string' ? a.localeCompare(String(b)) : a - Number(b));
  });
}
