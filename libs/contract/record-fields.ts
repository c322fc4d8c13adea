/** Values of a record as they are stored. */

/** Query, fragment and credentials of a page's address can identify the visitor, so they are not stored. */
export function withoutQuery(pageUrl: string): string {
  const end = pageUrl.search(/[?#]/);
  const kept = end === -1 ? pageUrl : pageUrl.slice(0, end);
  if (!kept.includes('@')) return kept;
  const { origin, pathname } = new URL(kept);
  return origin + pathname;
}

export const countryIn = (header: string): string | undefined =>
  /^[A-Za-z]{2}$/.test(header) ? header.toUpperCase() : undefined;
