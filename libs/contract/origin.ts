/** Origins that may record for a domain, as browsers send them, or with `*.` for any subdomain. */

/** `https://*.com` would match nearly every site. */
const isWholeSuffix = (text: string): boolean => text.includes('*') && !/\*(\.[^.:]+){2,}(:\d+)?$/.test(text);

export const originRule =
  'must be an origin as browsers send it (lower case, no path, no default port), such as https://www.example.com or https://*.example.com';

export function isOrigin(text: string): boolean {
  const plain = text.replace('://*.', '://wildcard.');
  if (!URL.canParse(plain) || new URL(plain).origin !== plain) return false;
  return /^https?:[^*]+$/.test(plain) && !isWholeSuffix(text);
}
