/** Where a request comes from: what a record has of it, and what a page is told. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, inject, it } from 'vitest';
import type { AnswerOf } from '#libs/base/http/routes';
import type { placeRoutes } from '#libs/place/routes';
import { createClient, type ProblemAnswer, request } from '../support/client.ts';
import { makeMmdb } from '../support/mmdb.ts';
import { expectProblem } from '../support/problems.ts';
import { startApi } from '../support/service.ts';
import { at, recordsOf, useStack, withOwnDomain } from '../support/stack.ts';

type Place = AnswerOf<(typeof placeRoutes)['getPlace']>;

const stack = await useStack();
const shop = 'https://shop.example';
const file = path.join(inject('folder'), `places-${process.pid}.mmdb`);
const placed = (country: string, ...regions: string[]) => ({
  country: { iso_code: country },
  subdivisions: regions.map((code) => ({ iso_code: code })),
});
writeFileSync(
  file,
  makeMmdb('GeoLite2-City', {
    '198.51.100.0/25': placed('US', 'NY'),
    '198.51.100.128/25': placed('US'),
    '203.0.113.0/25': placed('FR', 'IDF', '75'),
    '203.0.113.128/25': placed('RE'),
  }),
);
const headers = { COUNTRY_HEADER: 'CF-IPCountry', REGION_HEADER: 'CF-Region-Code', TRUSTED_PROXY_HOPS: '1' };
const [api, limited] = await Promise.all([
  startApi({ ...stack.env, ...headers, GEOIP_FILE: file, REGION_COUNTRIES: 'US,ca,GB' }),
  startApi({ ...stack.env, DISPLAY_RATE_PER_MINUTE: '2' }),
]);
const elsewhere = '192.0.2.1';

const placeOf = (domainId: string, given: Record<string, string> = {}, to = api) =>
  request<Place & ProblemAnswer>(to.baseUrl, `/v1/consent/${domainId}/place`, { headers: given });

describe('a place', () => {
  it.each<[string, string, string, string | null, string | null]>([
    ['US', 'CA', elsewhere, 'US', 'US-CA'],
    ['us', 'us-ca', elsewhere, 'US', 'US-CA'],
    ['CA', 'CA-QC', elsewhere, 'CA', 'CA-QC'],
    ['', 'GB-ENG', elsewhere, 'GB', 'GB-ENG'],
    // regions are told of some countries only
    ['FR', 'IDF', elsewhere, 'FR', null],
    ['', '', '203.0.113.9', 'FR', null],
    // junk, two, or one of another country: as if there were no header
    ['US', 'CA, NY', elsewhere, 'US', null],
    ['US', 'California', elsewhere, 'US', null],
    ['US', 'CA-QC', elsewhere, 'US', null],
    ['US', '-', elsewhere, 'US', null],
    ['US', '../etc', '198.51.100.9', 'US', 'US-NY'],
    // what the headers leave open is looked up
    ['', '', '198.51.100.9', 'US', 'US-NY'],
    ['', 'ca', '198.51.100.9', 'US', 'US-CA'],
    ['CA', '', '198.51.100.9', 'CA', null],
    ['', '', '198.51.100.200', 'US', null],
    ['XX', '', '198.51.100.9', 'US', 'US-NY'],
    // parts of a country that have a code of their own, and codes of none
    ['', '', '203.0.113.200', 'RE', null],
    ['AX', '', elsewhere, 'AX', null],
    ...['XX', 'ZZ', 'EU', 'AP', 'T1', 'U S', 'USA', 'US, DE'].map((code): [string, string, string, null, null] => [
      code,
      'CA',
      elsewhere,
      null,
      null,
    ]),
    ['', 'XX-CA', elsewhere, null, null],
    ['', '', elsewhere, null, null],
  ])('with the headers "%s" and "%s" and the address %s is %s, %s', async (country, region, address, ...expected) => {
    const given = { 'cf-ipcountry': country, 'cf-region-code': region, 'x-forwarded-for': address };
    const { status, body } = await placeOf(stack.domainId, given);
    expect([status, body]).toEqual([200, { country: expected[0], region: expected[1] }]);
  });

  it('is unknown where nothing is set, whatever a client sends', async () => {
    const { body } = await placeOf(stack.domainId, { 'cf-ipcountry': 'US', 'cf-region-code': 'CA' }, limited);
    expect(body).toEqual({ country: null, region: null });
  });

  it('is told to the pages of the domain, which alone may keep it; to others, and of other domains, it is not', async () => {
    const own = await withOwnDomain(stack, [shop]);
    const there = { 'cf-ipcountry': 'US', 'cf-region-code': 'CA' };
    const told = await placeOf(own.domainId, { ...there, origin: shop });
    expect([told.status, told.headers.get('cache-control'), told.headers.get('access-control-allow-origin')]).toEqual([
      200,
      'private, max-age=3600',
      shop,
    ]);
    expect(told.headers.get('vary')).toContain('Origin');
    const refused = await placeOf(own.domainId, { ...there, origin: 'https://evil.example' });
    expectProblem(refused, 403, 'origin_not_allowed');
    expect(refused.headers.get('access-control-allow-origin')).toBe(null);
    const unknown = await placeOf('dom_unknown', { ...there, origin: shop });
    expectProblem(unknown, 404, 'not_found');
    const asked = `/v1/consent/${own.domainId}/place`;
    expectProblem(await request<ProblemAnswer>(api.baseUrl, `${asked}?ip=198.51.100.9`), 400, 'invalid_request');
    const preflight = await request(api.baseUrl, asked, { method: 'OPTIONS', headers: { origin: shop } });
    expect([preflight.status, preflight.headers.get('access-control-allow-methods')]).toEqual([204, 'GET']);
  });

  it('is told as often as displays may be reported', async () => {
    const own = await withOwnDomain(stack);
    const asks = [];
    for (let count = 0; count < 3; count += 1) asks.push(await placeOf(own.domainId, {}, limited));
    expect(asks.map(({ status }) => status)).toEqual([200, 200, 429]);
    expect(asks[2]?.headers.get('ratelimit-policy')).toBe('"place";q=2;w=60');
  });

  it('is kept of a record, with its model; what it may be is said of another', async () => {
    const own = await withOwnDomain(stack);
    const there = { 'cf-ipcountry': 'US', 'cf-region-code': 'ca' };
    const { record } = createClient(api.baseUrl, stack.tenant);
    const sent = { decision: 'reject_all', model: 'opt_out' };
    expect((await record(own.domainId, own.apiKey, sent, there)).body).not.toHaveProperty('ignored');
    expect(at(await recordsOf(own, 1), 0)).toMatchObject({ country: 'US', region: 'US-CA', model: 'opt_out' });
    const wrong = { decision: 'reject_all', model: 'opt-out' };
    expect((await record(own.domainId, own.apiKey, wrong)).body).toMatchObject({ ignored: ['model'] });
    expectProblem(await record(own.domainId, own.apiKey, wrong, { prefer: 'handling=strict' }), 400, 'invalid_request');
  });
});
