export const hexOf = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');

export const randomHex = (bytes: number): string => hexOf(crypto.getRandomValues(new Uint8Array(bytes)));

/** UUIDv7 (RFC 9562): the first 48 bits are the time in milliseconds, 72 others are random. */
export function makeId(time: number): string {
  const hex = randomHex(9);
  return withTime(`00000000-0000-7${hex.slice(0, 3)}-8${hex.slice(3, 6)}-${hex.slice(6)}`, time);
}

export const timeOf = (id: string): number => Number(`0x${id.slice(0, 8)}${id.slice(9, 13)}`);

/** Replaces the time and keeps the random bits. */
export function withTime(id: string, time: number): string {
  const hex = Math.round(time).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}${id.slice(13)}`;
}
