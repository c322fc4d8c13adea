/** Origins that may record for a domain: as browsers send them, with `*.` for any subdomain, or of apps. */

/** `https://*.com` would match nearly every site. */
const isWholeSuffix = (text: string): boolean => text.includes('*') && !/\*(\.[^.:]+){2,}(:\d+)?$/.test(text);

export const originRule =
  'must be an origin as browsers send it (lower case, no path, no default port), such as https://www.example.com, https://*.example.com or capacitor://localhost';

/** The origin that a web view sends for an app's own pages. The excluded schemes do not identify the app. */
const ofApp =
  /^(?!(?:https?|wss?|ftp|javascript|data|blob|file|about):)[a-z][a-z\d+.-]*:\/\/[a-z\d_-]+(?:\.[a-z\d_-]+)*$/;

export function isOrigin(text: string): boolean {
  if (ofApp.test(text)) return true;
  const plain = text.replace('://*.', '://wildcard.');
  if (!URL.canParse(plain) || new URL(plain).origin !== plain) return false;
  return /^https?:[^*]+$/.test(plain) && !isWholeSuffix(text);
}

/** Whether the list contains the origin, also by a wildcard. */
export const isListed = (origins: readonly string[], origin: string): boolean =>
  origins.some((allowed) => matches(allowed, origin));

/** An empty list allows every origin. */
export const isAllowed = (origins: readonly string[], origin: string): boolean =>
  origins.length === 0 || isListed(origins, origin);

/** `https://*.example.com` matches every subdomain of example.com, at any depth, but not example.com itself. */
function matches(allowed: string, origin: string): boolean {
  const star = allowed.indexOf('*.');
  if (star === -1) return allowed === origin;
  const scheme = allowed.slice(0, star);
  const suffix = allowed.slice(star + 1);
  return (
    origin.startsWith(scheme) &&
    origin.endsWith(suffix) &&
    /^[A-Za-z0-9.-]+$/.test(origin.slice(scheme.length, -suffix.length))
  );
}
