/** What a `Content-Type` says: the type, and the encoding of the text (RFC 9110, 8.3); and that a body is not packed. */
import { Problem } from '../terms/problem.ts';

interface MediaType {
  /** in lower case, without parameters */
  type: string;
  /** as it was sent; absent where none is named */
  charset?: string | undefined;
}

/** Undefined where the header is none, or names several encodings. Its time grows with its length alone. */
export function parseMediaType(header = ''): MediaType | undefined {
  const [type = '', ...parameters] = sentOnce(header)
    .split(';')
    .map((part) => part.trim());
  const charsets = parameters.flatMap((parameter) => {
    const at = parameter.indexOf('=');
    if (at === -1 || parameter.slice(0, at).trim().toLowerCase() !== 'charset') return [];
    return [
      parameter
        .slice(at + 1)
        .trim()
        .replaceAll('"', ''),
    ];
  });
  if (new Set(charsets.map((each) => each.toLowerCase())).size > 1) return undefined;
  return { type: type.toLowerCase(), charset: charsets[0] || undefined };
}

/** Of a header that was sent twice, which arrives joined, where both say the same. */
function sentOnce(header: string): string {
  const [first = '', ...others] = header.split(',').map((part) => part.trim());
  return others.every((other) => other === first) ? first : header;
}

/** Whether text in this encoding can be read as UTF-8: under any of its names, or ASCII, which is a part of it. */
export const isUtf8Charset = (charset = 'utf-8'): boolean =>
  /^(?:utf-?8|(?:us-)?ascii)$/i.test(charset) || encodingOf(charset) === 'utf-8';

/** The encoding that the WHATWG's standard means by this label; undefined where it knows none. */
export function encodingOf(label: string): string | undefined {
  try {
    return new TextDecoder(label).encoding;
  } catch {
    return undefined;
  }
}

/** Throws a 415 for a packed body. Some clients name the encoding of their text in `Content-Encoding`, which packs nothing. */
export function requireUnpacked(encoding: string | undefined): void {
  if (encoding === undefined || /^(?:identity|utf-?8)?$/i.test(encoding)) return;
  throw new Problem('unsupported_media_type', 'send the body without Content-Encoding', {
    headers: { 'Accept-Encoding': 'identity' },
  });
}
