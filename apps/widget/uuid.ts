import { orElse } from '#libs/widget/attempt';
import { map, slice } from '#libs/widget/tamper-proof';

const digits = '0123456789abcdef';

export function hexOf(bytes: ArrayLike<number>): string {
  let hex = '';
  map(bytes, (byte) => {
    hex += `${digits[byte >> 4]}${digits[byte & 15]}`;
  });
  return hex;
}

export function randomHex(bytes: number): string {
  let hex = orElse(() => hexOf(crypto.getRandomValues(new Uint8Array(bytes))), '');
  while (hex.length < bytes * 2) hex += digits[(Math.random() * 16) | 0];
  return hex;
}

/** UUIDv7 (RFC 9562): the first 48 bits are the time in milliseconds, 72 others are random. */
export function makeId(time: number): string {
  const hex = randomHex(9);
  return withTime(`00000000-0000-7${slice(hex, 0, 3)}-8${slice(hex, 3, 6)}-${slice(hex, 6)}`, time);
}

/** Unix milliseconds; NaN if the text is no id. */
export const timeOf = (id: string): number => +`0x${slice(id, 0, 8)}${slice(id, 9, 13)}`;

/** Replaces the time and keeps the random bits. */
export function withTime(id: string, time: number): string {
  let hex = '';
  for (let left = time + 0.5; hex.length < 12; left /= 16) hex = `${digits[left & 15]}${hex}`;
  return `${slice(hex, 0, 8)}-${slice(hex, 8)}${slice(id, 13)}`;
}
