/** The opt-in rate, for the API, the dashboard and its files. docs/statistics.md defines it. */

interface Choices {
  /** decisions of visitors, without crawlers and imports */
  choices: number;
  /** choices that allow a category besides `necessary` */
  optIns: number;
}

/** Of all parts together, from 0 to 1; null without choices. */
export function optInRate(parts: readonly Choices[]): number | null {
  const choices = parts.reduce((sum, part) => sum + part.choices, 0);
  return choices > 0 ? parts.reduce((sum, part) => sum + part.optIns, 0) / choices : null;
}
