/** The country of a client's address, from the operator's own file (GEOIP_FILE): two letters, and nothing else of it is kept. */
import { isIPv6 } from 'node:net';
import { type CountryResponse, open, type Reader } from 'maxmind';
import { refuse } from '#libs/base/config/read';
import { isObject } from '#libs/base/http/body';
import { countryIn } from './contract.ts';

/** Undefined for addresses that the file does not know, such as private ones. */
export type CountryOf = (address: string) => string | undefined;

/** Networks of a file that are looked at until one has a country. */
const tried = 100_000;

/** Rejects with a BadSetting where the file is missing, broken or without countries. It is read once. */
export async function openCountries(file: string): Promise<CountryOf> {
  const reader = await open<CountryResponse>(file).catch(() => undefined);
  if (!reader) return refuse('GEOIP_FILE', `an .mmdb file that can be read, not ${JSON.stringify(file)}`);
  if (!hasCountries(reader))
    return refuse('GEOIP_FILE', `an .mmdb file with countries, not ${JSON.stringify(reader.metadata.databaseType)}`);
  const isOnlyIPv4 = reader.metadata.ipVersion === 4;
  return (address) => {
    // an IPv6 address would be taken for another one there
    if (isOnlyIPv4 && isIPv6(address)) return undefined;
    try {
      return countryAmong(reader.get(address));
    } catch {
      // damaged at this place: no record is lost for that
      return undefined;
    }
  };
}

/** As MaxMind and DB-IP have it, or as others do. */
function countryAmong(data: unknown): string | undefined {
  if (!isObject(data)) return undefined;
  const { country, country_code: code } = data;
  const found = isObject(country) ? country.iso_code : (code ?? country);
  return typeof found === 'string' ? countryIn(found) : undefined;
}

/** Goes from network to network. */
function hasCountries(reader: Reader<CountryResponse>): boolean {
  let next = 0;
  for (let count = 0; count < tried && next < 2 ** 32; count += 1) {
    try {
      const [data, prefix] = reader.getWithPrefixLength(toAddress(next));
      if (countryAmong(data) !== undefined) return true;
      next += 2 ** (32 - prefix);
    } catch {
      return false;
    }
  }
  return false;
}

const toAddress = (number: number): string =>
  [24, 16, 8, 0].map((shift) => Math.floor(number / 2 ** shift) % 256).join('.');
