/** The address of a page, or of a screen of an app: what of it is judged, and what is stored. */

/** characters, without query and fragment */
export const maxPageUrl = 2048;

/** `scheme://` and something behind it that can be stored, such as an app's `capacitor://localhost/x`. */
const addressPattern = /^(?!(?:javascript|data|blob|file|about):)[a-z][a-z0-9+.-]*:\/\/[^\s\\\0\p{Cs}]+$/iu;

/** Query and fragment are not judged. */
export function isPageUrl(text: string): boolean {
  const url = withoutQuery(text);
  return url.length <= maxPageUrl && addressPattern.test(url) && URL.canParse(url);
}

export const whyNoPageUrl = (text: string): string =>
  withoutQuery(text).length > maxPageUrl
    ? `must be at most ${maxPageUrl} characters without query and fragment`
    : 'must be a whole URL of well-formed Unicode, such as https://www.example.com/cups';

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
