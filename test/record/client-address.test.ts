import { createSecretKey } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, inject, it } from 'vitest';
import { storedAddress } from '#libs/base/http/client-address';
import { createClient } from '../support/client.ts';
import { makeMmdb } from '../support/mmdb.ts';
import { startApi } from '../support/service.ts';
import { at, recordsOf, useStack, withOwnDomain } from '../support/stack.ts';

const key = 'a key of at least thirty-two bytes';
const hashed = (address: string) => storedAddress(address, { mode: 'hashed', hashKey: createSecretKey(key, 'utf8') });

const stack = await useStack();
const file = path.join(inject('folder'), `countries-${process.pid}.mmdb`);
const ofCountry = (code: string) => ({ country: { iso_code: code } });
writeFileSync(
  file,
  makeMmdb('GeoLite2-Country', { '203.0.113.0/24': ofCountry('CH'), '2001:db8:1:2::/64': ofCountry('IT') }),
);
const settings = { IP_MODE: 'hashed', IP_HASH_KEY: key, TRUSTED_PROXY_HOPS: '2', COUNTRY_HEADER: 'CF-IPCountry' };
const behindProxies = (await startApi({ ...stack.env, ...settings, GEOIP_FILE: file })).baseUrl;

/** The rules themselves: test/base/client-address.unit.test.ts and test/record/countries.unit.test.ts. */
describe('a record', () => {
  const stored = async (baseUrl: string, forwarded: string, country: string) => {
    const own = await withOwnDomain(stack);
    const { record } = createClient(baseUrl, stack.tenant);
    const headers = { 'x-forwarded-for': forwarded, 'cf-ipcountry': country };
    await record(own.domainId, own.apiKey, { decision: 'custom' }, headers);
    const stored = at(await recordsOf(own, 1), 0);
    return [stored.ip, stored.country];
  };

  it('has by default the truncated address of the socket, whatever headers say', async () => {
    expect(await stored(stack.api.baseUrl, '203.0.113.9', 'DE')).toEqual(['127.0.0.0', null]);
  });

  it.each([
    ['192.0.2.66, 203.0.113.9, 10.0.0.1', 'Austria', '203.0.113.9', 'CH'],
    // of the whole address: the /48 that is stored in another mode has no country
    ['2001:db8:1:2::9, 10.0.0.1', '', '2001:db8:1:2::9', 'IT'],
    ['203.0.113.9, 10.0.0.1', 'at', '203.0.113.9', 'AT'],
    ['', '', '127.0.0.1', null],
  ])('has with proxies before it, and X-Forwarded-For "%s" and CF-IPCountry "%s", %s and %s', async (...row) => {
    const [forwarded, header, address, country] = row;
    expect(await stored(behindProxies, forwarded, header)).toEqual([hashed(address), country]);
  });
});
