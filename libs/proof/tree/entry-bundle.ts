/** An entry bundle (C2SP tlog-tiles): up to 256 entries, each after its length as two bytes, big-endian. */

export const maxEntryLength = 0xffff;

/** Throws a RangeError for an entry beyond 65,535 bytes. */
export function packBundle(entries: Uint8Array[]): Uint8Array {
  const bundle = new Uint8Array(entries.reduce((length, entry) => length + 2 + entry.length, 0));
  let offset = 0;
  for (const entry of entries) {
    if (entry.length > maxEntryLength) throw new RangeError(`an entry of ${entry.length} bytes fits no bundle`);
    bundle[offset] = entry.length >> 8;
    bundle[offset + 1] = entry.length & 0xff;
    bundle.set(entry, offset + 2);
    offset += 2 + entry.length;
  }
  return bundle;
}

/** undefined where the bytes end within an entry. */
export function unpackBundle(bundle: Uint8Array): Uint8Array[] | undefined {
  const entries: Uint8Array[] = [];
  let offset = 0;
  while (offset < bundle.length) {
    const [high, low] = [bundle[offset], bundle[offset + 1]];
    if (high === undefined || low === undefined) return undefined;
    const end = offset + 2 + high * 256 + low;
    if (end > bundle.length) return undefined;
    entries.push(bundle.slice(offset + 2, end));
    offset = end;
  }
  return entries;
}
