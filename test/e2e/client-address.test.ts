import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import type { FullRecord } from '#libs/contract/responses';
import { type Client, createClient } from '../support/client.ts';
import { makeMmdb } from '../support/mmdb.ts';
import { startApi } from '../support/service.ts';
import { at, useStores } from '../support/stack.ts';
import { makeTenant, type Tenant } from '../support/stores.ts';
import { eventually } from '../support/wait.ts';

const settings = {
  default: {},
  oneHop: { IP_MODE: 'full', TRUSTED_PROXY_HOPS: '1', COUNTRY_HEADER: 'CF-IPCountry' },
  twoHops: { IP_MODE: 'full', TRUSTED_PROXY_HOPS: '2' },
  truncated: { TRUSTED_PROXY_HOPS: '1' },
  hashed: { IP_MODE: 'hashed', IP_HASH_KEY: 'a key of at least thirty-two bytes', TRUSTED_PROXY_HOPS: '1' },
  none: { IP_MODE: 'none', TRUSTED_PROXY_HOPS: '1' },
} as const;
type Name = keyof typeof settings;

describe('of the client, with these settings', () => {
  const clients = new Map<string, Client>();
  let tenant: Tenant;

  beforeAll(async () => {
    const { db, env } = useStores();
    const file = path.join(inject('folder'), `countries-${process.pid}.mmdb`);
    const ofCountry = (code: string) => ({ country: { iso_code: code } });
    writeFileSync(
      file,
      makeMmdb('GeoLite2-Country', { '203.0.113.0/24': ofCountry('CH'), '2001:db8:1:2::/64': ofCountry('IT') }),
    );
    tenant = await makeTenant(db);
    await Promise.all(
      Object.entries(settings).map(async ([name, own]) => {
        const api = await startApi({ ...env, ...own, ...(name === 'oneHop' && { GEOIP_FILE: file }) });
        clients.set(name, createClient(api.baseUrl, tenant));
      }),
    );
  });

  const stored = async (name: Name, headers: Record<string, string>): Promise<FullRecord> => {
    const client = clients.get(name);
    if (!client) throw new Error(`no API ${name}`);
    const domainId = at(tenant.domainIds, 0);
    const { body: receipt } = await client.record(domainId, at(tenant.apiKeys, 0), { decision: 'custom' }, headers);
    return eventually(async () => {
      const { body } = await client.records(domainId);
      return at(
        body.records.filter(({ id }) => id === receipt.id),
        0,
      );
    });
  };

  it.each<[Name, string, string | null]>([
    ['default', '', '127.0.0.0'],
    ['default', '203.0.113.9', '127.0.0.0'],
    ['oneHop', '', '127.0.0.1'],
    ['oneHop', '203.0.113.9', '203.0.113.9'],
    ['oneHop', '198.51.100.1, 203.0.113.9', '203.0.113.9'],
    ['oneHop', '203.0.113.9, nonsense', '127.0.0.1'],
    ['oneHop', '::ffff:203.0.113.9', '203.0.113.9'],
    ['oneHop', '2001:db8::1', '2001:db8::1'],
    ['oneHop', "1'; drop table records; --", '127.0.0.1'],
    ['twoHops', '203.0.113.9', '203.0.113.9'],
    ['twoHops', '198.51.100.1, 203.0.113.9', '198.51.100.1'],
    ['twoHops', '192.0.2.66, 198.51.100.1, 203.0.113.9', '198.51.100.1'],
    ['truncated', '203.0.113.77', '203.0.113.0'],
    ['truncated', '::ffff:203.0.113.77', '203.0.113.0'],
    ['truncated', '2001:db8:1:2:3:4:5:6', '2001:db8:1::'],
    ['none', '203.0.113.9', null],
  ])('%s, and X-Forwarded-For "%s", is stored %s', async (name, forwarded, ip) => {
    expect((await stored(name, forwarded ? { 'x-forwarded-for': forwarded } : {})).ip).toBe(ip);
  });

  it('hashed, equal addresses have equal hashes, which hold nothing of the address', async () => {
    const ipOf = async (address: string) => (await stored('hashed', { 'x-forwarded-for': address })).ip;
    const first = await ipOf('203.0.113.9');
    expect(first).toMatch(/^[0-9a-f]{32}$/);
    expect(await ipOf('203.0.113.9')).toBe(first);
    expect(await ipOf('203.0.113.10')).not.toBe(first);
  });

  it.each<[Name, string, string | null]>([
    ['oneHop', 'de', 'DE'],
    ['oneHop', 'AT', 'AT'],
    ['oneHop', 'Austria', null],
    ['oneHop', "';", null],
    ['default', 'DE', null],
  ])('%s, and CF-IPCountry "%s", the country is %s', async (name, country, kept) => {
    expect((await stored(name, { 'cf-ipcountry': country })).country).toBe(kept);
  });

  it.each<[Name, string, string, string | null]>([
    ['oneHop', '203.0.113.9', '', 'CH'],
    // the /48 that is stored has no country
    ['oneHop', '2001:db8:1:2::9', '', 'IT'],
    ['oneHop', '2001:db8:1:3::9', '', null],
    ['oneHop', '203.0.113.9', 'at', 'AT'],
    ['oneHop', '203.0.113.9', 'Austria', 'CH'],
    ['oneHop', '10.0.0.1', '', null],
    ['truncated', '203.0.113.9', '', null],
  ])('%s, with a file of countries, address %s and CF-IPCountry "%s": %s', async (name, address, header, kept) => {
    const headers = { 'x-forwarded-for': address, ...(header && { 'cf-ipcountry': header }) };
    expect((await stored(name, headers)).country).toBe(kept);
  });
});
