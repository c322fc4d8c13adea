/** The file of a published banner: a line with its settings, and then the widget. */
import { hash } from 'node:crypto';
import zlib from 'node:zlib';
import { version } from '#libs/base/version';
import type { WidgetConfig } from '#libs/widget/config';

export interface LiveBanner {
  domainId: string;
  /** JSON; null before the first publication */
  settings: string | null;
  /** of the settings */
  version: number | null;
  key: string | null;
}

/** A domain's line in a process's memory. */
export interface PackedLine {
  /** raw deflate that ends at a byte boundary, so that more can follow */
  deflated: Uint8Array;
  crc: number;
  /** length of the line before compression */
  bytes: number;
  hash: string;
  /** whether the settings need `assent-extras`: they have regions or an experiment */
  needsExtras: boolean;
}

/**
 * `api`: PUBLIC_URL. The page's own settings win, except `domain`, `api` and, once there is one, `key`. The script must
 * also work if elements of the page are named `assentConfig` or `hasOwnProperty`.
 */
function lineOf(live: LiveBanner, api = '..'): string {
  const { domainId: domain, key } = live;
  const own = 'Object.prototype.hasOwnProperty.call(window,"assentConfig")&&window.assentConfig';
  const fixed = { domain, ...(key !== null && { key }), api };
  return `window.assentConfig={...${literal(settingsOf(live))},...(${own}),...${literal(fixed)}};\n`;
}

/** Before the first publication, the `bannerVersion` of records is the version of this release. */
export const settingsOf = ({ settings, version: number }: LiveBanner): object => ({
  ...JSON.parse(settings ?? '{}'),
  bannerVersion: number === null ? version : String(number),
});

/** JSON that is also valid in a script element: without line ends and closing tags. */
export const literal = (value: object): string =>
  JSON.stringify(value).replaceAll(
    /[<\u2028\u2029]/g,
    (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

const flushed = { finishFlush: zlib.constants.Z_SYNC_FLUSH };

/** `api`: PUBLIC_URL. */
export function packLine(live: LiveBanner, api?: string): PackedLine {
  const plain = Buffer.from(lineOf(live, api));
  const { regions, experiment }: WidgetConfig = JSON.parse(live.settings ?? '{}');
  return {
    // copied to an array of its own: zlib's result would hold on to 16 KiB, and a small Buffer to its 8 KiB pool
    deflated: new Uint8Array(zlib.deflateRawSync(plain, flushed)),
    crc: zlib.crc32(plain),
    bytes: plain.length,
    hash: hash('sha256', plain).slice(0, 16),
    needsExtras: Boolean(regions ?? experiment),
  };
}

/** The header of gzip (RFC 1952): no name, no time, any system. */
const header = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 2, 0xff]);

/**
 * Compresses the shared part only once. Returns a function that joins it to a domain's line, checksum and length included.
 */
export function createScripts(widget: Uint8Array, extras: Uint8Array) {
  const short = packRest(widget);
  const long = packRest(Buffer.concat([extras, widget]));
  const joined = new WeakMap<PackedLine, { hash: string; end: Buffer }>();
  const join = (line: PackedLine, rest: typeof short) => {
    const end = Buffer.alloc(8);
    end.writeUInt32LE(zlib.crc32(rest.code, line.crc));
    end.writeUInt32LE(line.bytes + rest.code.length, 4);
    return { hash: hash('sha256', line.hash + rest.hash).slice(0, 16), end };
  };
  return (line: PackedLine) => {
    const rest = line.needsExtras ? long : short;
    const ends = joined.get(line) ?? join(line, rest);
    joined.set(line, ends);
    return {
      hash: ends.hash,
      get content(): Buffer {
        return Buffer.concat([zlib.inflateRawSync(line.deflated, flushed), rest.code]);
      },
      get zipped(): Buffer {
        return Buffer.concat([header, line.deflated, rest.deflated, ends.end]);
      },
    };
  };
}

/** The file without the line. */
const packRest = (code: Uint8Array) => ({
  code,
  deflated: zlib.deflateRawSync(code, { level: 9 }),
  hash: hash('sha256', code),
});
