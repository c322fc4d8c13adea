/** Finds the origin in a typed or pasted address of a website. */
import { isOrigin } from '#libs/base/terms/origin';

const isThisMachine = (host: string): boolean => /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(host);

/** The origin as browsers send it, or with `*.` for any subdomain. Undefined if the text is not a website's address. */
export function originFrom(text: string): string | undefined {
  const [, scheme = '', star = '', rest = ''] = /^([a-z][a-z\d+.-]*:\/\/)?(\*\.)?(.*)$/i.exec(text.trim()) ?? [];
  const typed = `${scheme || 'https://'}${rest}`;
  if (!URL.canParse(typed)) return undefined;
  const url = new URL(typed);
  // a single word is not taken for a host
  if (url.username !== '' || (scheme === '' && !/[.:]/.test(url.hostname) && !isThisMachine(url.hostname))) {
    return undefined;
  }
  const plain = scheme === '' && isThisMachine(url.hostname) ? new URL(`http://${rest}`) : url;
  const origin = `${plain.protocol}//${star}${plain.host}`;
  return isOrigin(origin) ? origin : undefined;
}
