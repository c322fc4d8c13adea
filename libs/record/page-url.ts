/** The address of a page, or of a screen of an app: what of it is judged, and what is stored. */

/** characters, without query and fragment */
export const maxPageUrl = 2048;

/** They lead to no page, or hold one. */
const refusedSchemes = new Set(['javascript', 'data', 'blob', 'file', 'about']);

/** `scheme://` and something behind it, such as an app's `capacitor://localhost/x`. Query and fragment are not judged. */
export function isPageUrl(text: string): boolean {
  const url = withoutQuery(text);
  const [, scheme] = /^([a-z][a-z0-9+.-]*):\/\/[^\s\\]+$/i.exec(url) ?? [];
  return scheme !== undefined && !refusedSchemes.has(scheme.toLowerCase()) && URL.canParse(url);
}

export function withoutQuery(url: string): string {
  const end = url.search(/[?#]/);
  return end === -1 ? url : url.slice(0, end);
}

/** Query, fragment and credentials of an address that `isPageUrl` can identify the visitor, so they are not stored. */
export function storedPageUrl(pageUrl: string): string {
  const kept = withoutQuery(pageUrl);
  if (!kept.includes('@')) return kept;
  const url = new URL(kept);
  url.username = '';
  url.password = '';
  return url.href;
}

/** Of a page that told its path alone: the path on the site that the browser names. `//host` is no path. */
export const onSite = (path: string, origin: string | undefined): string =>
  origin !== undefined && origin !== 'null' && /^\/(?!\/)/.test(path) ? origin + path : path;
