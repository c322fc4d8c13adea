/** Tiles and entry bundles by their names (C2SP tlog-tiles), the part of the path after `tile/`. */

export const tileWidth = 256;

export interface Tile {
  /** 0: leaf hashes; a hash of level n stands for 256^n leaves. */
  level: number;
  index: number;
  /** How many hashes it holds: 256, or 1–255 where it is partial. */
  width: number;
}

export interface EntryBundle {
  level: 'entries';
  index: number;
  width: number;
}

/** `0/x001/x234/067`, `entries/000.p/17`. */
export function formatTilePath({ level, index, width }: Tile | EntryBundle): string {
  return `${level}/${formatIndex(index)}${width === tileWidth ? '' : `.p/${width}`}`;
}

const shape = /^(entries|[0-9]{1,2})\/((?:x[0-9]{3}\/){0,5}[0-9]{3})(?:\.p\/([1-9][0-9]{0,2}))?$/;

/** undefined for anything that `formatTilePath` would not write like this. */
export function parseTilePath(path: string): Tile | EntryBundle | undefined {
  const [, level, groups, partial] = shape.exec(path) ?? [];
  if (level === undefined || groups === undefined) return undefined;
  const index = Number(groups.replaceAll(/[x/]/g, ''));
  const width = partial === undefined ? tileWidth : Number(partial);
  if (!Number.isSafeInteger(index) || width > tileWidth || (level !== 'entries' && Number(level) > 63))
    return undefined;
  const tile = level === 'entries' ? ({ level, index, width } as const) : { level: Number(level), index, width };
  return formatTilePath(tile) === path ? tile : undefined;
}

function formatIndex(index: number): string {
  const last = String(index % 1000).padStart(3, '0');
  return index < 1000 ? last : `${formatGroups(Math.floor(index / 1000))}/${last}`;
}

function formatGroups(index: number): string {
  const last = `x${String(index % 1000).padStart(3, '0')}`;
  return index < 1000 ? last : `${formatGroups(Math.floor(index / 1000))}/${last}`;
}

/** How many hashes level `level` of a tree of `size` leaves has: a hash is there once all below it are. */
const hashesAt = (level: number, size: number): number => Math.floor(size / tileWidth ** level);

/** The width of a tile in a tree of `size` leaves; 0 where there is no such tile. */
export function widthAt(level: number | 'entries', index: number, size: number): number {
  const hashes = hashesAt(level === 'entries' ? 0 : level, size);
  return Math.max(0, Math.min(tileWidth, hashes - index * tileWidth));
}

const maxEntryLength = 0xffff;

/**
 * A bundle's bytes: each entry after its length as two bytes, big-endian. Throws a RangeError for one beyond 65,535 bytes.
 */
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
