/**
 * Converts bytes to text and back without Node's Buffer, so that it runs in browsers. Decoders accept only one spelling.
 */

const encoder = new TextEncoder();
export const utf8 = (text: string): Uint8Array => encoder.encode(text);

/** undefined for anything that is not well-formed UTF-8; a byte order mark stays a character. */
export function fromUtf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

export function concat(...parts: Uint8Array[]): Uint8Array {
  const joined = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    joined.set(part, offset);
    offset += part.length;
  }
  return joined;
}

export function equal(one: Uint8Array, other: Uint8Array): boolean {
  if (one.length !== other.length) return false;
  for (let index = 0; index < one.length; index++) if (one[index] !== other[index]) return false;
  return true;
}

const hexDigits = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

export function hex(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) text += hexDigits[byte];
  return text;
}

/** undefined unless these are pairs of lowercase digits. */
export function fromHex(text: string): Uint8Array | undefined {
  if (!/^(?:[0-9a-f]{2})*$/.test(text)) return undefined;
  const bytes = new Uint8Array(text.length / 2);
  for (let index = 0; index < bytes.length; index++) {
    bytes[index] = Number.parseInt(text.slice(2 * index, 2 * index + 2), 16);
  }
  return bytes;
}

const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const standard = `${letters}+/`;
/** Two characters at once: every record pays for two of these texts. */
const pairs = (alphabet: string) => Array.from(alphabet).flatMap((one) => Array.from(alphabet, (other) => one + other));
const standardPairs = pairs(standard);
const urlPairs = pairs(`${letters}-_`);

const base64With = (table: string[], bytes: Uint8Array): string => {
  let text = '';
  const whole = bytes.length - (bytes.length % 3);
  for (let index = 0; index < whole; index += 3) {
    const bits = ((bytes[index] ?? 0) << 16) | ((bytes[index + 1] ?? 0) << 8) | (bytes[index + 2] ?? 0);
    text += `${table[bits >> 12]}${table[bits & 0xfff]}`;
  }
  const left = bytes.length - whole;
  if (left === 1) return text + table[(bytes[whole] ?? 0) << 4];
  if (left === 2) {
    const bits = (((bytes[whole] ?? 0) << 8) | (bytes[whole + 1] ?? 0)) << 2;
    return `${text}${table[bits >> 6]}${table[(bits & 63) << 6]?.[0]}`;
  }
  return text;
};

export function base64(bytes: Uint8Array): string {
  const text = base64With(standardPairs, bytes);
  return text.padEnd(Math.ceil(text.length / 4) * 4, '=');
}

/** Without padding. */
export const base64url = (bytes: Uint8Array): string => base64With(urlPairs, bytes);

const values = new Map(Array.from(standard, (letter, value) => [letter, value]));

/** undefined unless it is exactly what `base64` writes: padded, no white space, no bits beyond the last byte. */
export function fromBase64(text: string): Uint8Array | undefined {
  if (text.length % 4 !== 0) return undefined;
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  const bytes = new Uint8Array((text.length / 4) * 3 - padding);
  let [bits, count, offset] = [0, 0, 0];
  for (let index = 0; index < text.length - padding; index++) {
    const value = values.get(text.charAt(index));
    if (value === undefined) return undefined;
    bits = (bits << 6) | value;
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes[offset++] = bits >> count;
    bits &= (1 << count) - 1;
  }
  return bits === 0 ? bytes : undefined;
}
