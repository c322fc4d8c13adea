import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { openGeoipFile } from '#libs/place/geoip-file';
import { makeMmdb } from '../support/mmdb.ts';

const folder = mkdtempSync(path.join(os.tmpdir(), 'countries-'));
afterAll(() => rmSync(folder, { recursive: true }));
function write(content: Buffer | string): string {
  const file = path.join(mkdtempSync(path.join(folder, 'one-')), 'countries.mmdb');
  writeFileSync(file, content);
  return file;
}
const country = (code: string) => ({
  country: { iso_code: code, names: { en: 'A country with a name of some length' } },
});
const networks = {
  '1.0.0.0/24': country('AU'),
  '203.0.113.0/25': country('AT'),
  '203.0.113.128/25': country('CH'),
  '198.51.100.0/24': { registered_country: { iso_code: 'US' } },
  '192.0.2.0/24': country('Nowhere'),
};
const inIPv6 = {
  '2001:db8::/32': country('DE'),
  '2001:db9::/48': { country_code: 'fr' },
  '2a00::/16': { country: 'IT' },
};

const countriesOf = async (file: string) => {
  const locate = await openGeoipFile(file);
  return (address: string) => locate(address).country;
};

describe('countries from a file', () => {
  it('are those of IPv4 and IPv6 addresses; private and unknown ones, and what is no address, have none', async () => {
    const countryOf = await countriesOf(write(makeMmdb('GeoLite2-Country', { ...networks, ...inIPv6 })));
    const known = { '1.0.0.255': 'AU', '203.0.113.9': 'AT', '203.0.113.200': 'CH' };
    const knownIPv6 = { '2001:db8::1': 'DE', '2001:db9::1': 'FR', '2a00:1450::1': 'IT' };
    for (const [address, code] of Object.entries({ ...known, ...knownIPv6 })) expect(countryOf(address)).toBe(code);
    const unknown = [
      '1.0.1.0',
      '2001:db9:1::1',
      '198.51.100.1',
      '192.0.2.1',
      '127.0.0.1',
      '10.0.0.1',
      '::1',
      'fe80::1',
    ];
    expect([...unknown, '', 'nonsense'].filter(countryOf)).toEqual([]);
  });

  it('a file of IPv4 alone has none of IPv6', async () => {
    const countryOf = await countriesOf(write(makeMmdb('GeoLite2-Country', { '0.0.0.0/1': country('AU') }, 4)));
    expect(['1.0.0.1', '2001:db8::1', '::1'].map(countryOf)).toEqual(['AU', undefined, undefined]);
  });

  it('a damaged place in the file is no country, and throws nothing', async () => {
    const file = makeMmdb('GeoLite2-Country', networks);
    // the text of the second country
    const damaged = Buffer.from(file);
    damaged.fill(0xff, damaged.indexOf('AT') - 12, damaged.indexOf('AT') + 2);
    const countryOf = await countriesOf(write(damaged));
    expect([countryOf('1.0.0.1'), countryOf('203.0.113.9')]).toEqual(['AU', undefined]);
  });

  const whole = makeMmdb('GeoLite2-Country', networks);
  const readable = /^GEOIP_FILE must be an \.mmdb file that can be read/;
  it.each<[string, () => string, RegExp]>([
    ['is missing', () => path.join(folder, 'missing.mmdb'), /^GEOIP_FILE must be .* that can be read, not ".*missing/],
    ['is a folder', () => folder, readable],
    ['is empty', () => write(''), readable],
    ['is text', () => write('a,b\n'.repeat(1_000)), readable],
    ['is cut off', () => write(whole.subarray(0, whole.length - 40)), /^GEOIP_FILE must be an \.mmdb file/],
    [
      'is of another kind',
      () => write(makeMmdb('GeoLite2-ASN', { '1.0.0.0/24': { autonomous_system_number: 13335 } })),
      /^GEOIP_FILE must be an \.mmdb file with countries, not "GeoLite2-ASN"$/,
    ],
    [
      'has no subdivisions',
      () => write(whole),
      /^GEOIP_FILE must be an \.mmdb file with subdivisions for REGION_COUNTRIES, not "GeoLite2-Country"$/,
    ],
  ])('a file that %s is refused in one line', async (_, file, told) => {
    const refusal = await openGeoipFile(file(), { needsRegions: true }).catch((error: Error) => error.message);
    expect(refusal).toMatch(told);
    expect(refusal).not.toMatch(/\n/);
  });
});
