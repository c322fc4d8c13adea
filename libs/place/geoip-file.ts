/** The country and region of a client's address, from the operator's own file (GEOIP_FILE). */
import { isIPv6 } from 'node:net';
import { open, type Reader, type Response } from 'maxmind';
import { refuse } from '#libs/base/config/read';
import { isObject } from '#libs/base/http/body';
import { parseCountry, parseRegion } from './codes.ts';

interface Found {
  country?: string | undefined;
  region?: string | undefined;
}

/** Empty for addresses that the file does not know, such as private ones. */
export type Locate = (address: string) => Found;

/** The most networks of a file that are searched for a country or a region. */
const mostNetworks = 100_000;

const nowhere: Found = {};

/**
 * Rejects with a BadSetting if the file is missing, broken or without countries, or without the regions that
 * `needsRegions` asks for. The file is read once.
 */
export async function openGeoipFile(file: string, { needsRegions = false } = {}): Promise<Locate> {
  const reader = await open<Response>(file).catch(() => undefined);
  if (!reader) return refuse('GEOIP_FILE', `an .mmdb file that can be read, not ${JSON.stringify(file)}`);
  const type = JSON.stringify(reader.metadata.databaseType);
  if (!hasAny(reader, 'country')) return refuse('GEOIP_FILE', `an .mmdb file with countries, not ${type}`);
  if (needsRegions && !hasAny(reader, 'region'))
    return refuse('GEOIP_FILE', `an .mmdb file with subdivisions for REGION_COUNTRIES, not ${type}`);
  const isOnlyIPv4 = reader.metadata.ipVersion === 4;
  return (address) => {
    // such a file takes an IPv6 address for another address
    if (isOnlyIPv4 && isIPv6(address)) return nowhere;
    try {
      return readPlace(reader.get(address));
    } catch {
      // the file is damaged here, which must not cost a record
      return nowhere;
    }
  };
}

/** Reads the structure of MaxMind and DB-IP, and that of other providers. */
function readPlace(data: unknown): Found {
  if (!isObject(data)) return nowhere;
  const { country: named, country_code: code, subdivisions, region_code: regionCode } = data;
  const country = textIn(isObject(named) ? named.iso_code : (code ?? named), parseCountry);
  if (country === undefined) return nowhere;
  // the largest comes first
  const largest: unknown = Array.isArray(subdivisions) ? subdivisions[0] : undefined;
  const region = isObject(largest) ? largest.iso_code : regionCode;
  return { country, region: textIn(region, (text) => parseRegion(text, country)) };
}

const textIn = (value: unknown, read: (text: string) => string | undefined): string | undefined =>
  typeof value === 'string' ? read(value) : undefined;

/** Whether an IPv4 network of the file has the `wanted` field; searches at most `mostNetworks`. */
function hasAny(reader: Reader<Response>, wanted: keyof Found): boolean {
  let next = 0;
  for (let count = 0; count < mostNetworks && next < 2 ** 32; count += 1) {
    try {
      const [data, prefix] = reader.getWithPrefixLength(toAddress(next));
      if (readPlace(data)[wanted] !== undefined) return true;
      next += 2 ** (32 - prefix);
    } catch {
      return false;
    }
  }
  return false;
}

const toAddress = (number: number): string =>
  [24, 16, 8, 0].map((shift) => Math.floor(number / 2 ** shift) % 256).join('.');
