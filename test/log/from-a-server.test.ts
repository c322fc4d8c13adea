/** What docs/api.md says of a server that records for its visitors, statement by statement. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { dayOf } from '#libs/base/terms/calendar';
import type { Imported } from '#libs/log/import/contract';
import type { DomainStats, StatsGroup } from '#libs/stats/contract';
import { request, tokenFor } from '../support/client.ts';
import { holdTheMinute } from '../support/clock.ts';
import { makeMmdb } from '../support/mmdb.ts';
import { closeOpenEpoch, deriveFacets } from '../support/sealing.ts';
import { startApi } from '../support/service.ts';
import { recordsOf, useStackWithApi } from '../support/stack.ts';
import { eventually } from '../support/wait.ts';

const limit = 3;
const userAgent = 'Mozilla/5.0 (X11; Linux x86_64; rv:144.0) Gecko/20100101 Firefox/144.0';
const visitor = { ip: '203.0.113.77', userAgent };
const file = path.join(mkdtempSync(path.join(inject('folder'), 'countries-')), 'countries.mmdb');
writeFileSync(
  file,
  makeMmdb('Country', {
    '127.0.0.0/8': { country: { iso_code: 'SE' } },
    '203.0.113.0/24': { country: { iso_code: 'DE' } },
  }),
);
const env = { IP_MODE: 'full', GEOIP_FILE: file, RECORD_RATE_PER_MINUTE: String(limit), READ_RATE_PER_MINUTE: '0' };
const stack = await useStackWithApi({ env, tenant: { domains: 4 } });
const [ofRecord = '', ofProxy = '', ofImport = '', ofLimit = ''] = stack.tenant.domainIds;
const keyOf = (domainId: string) => stack.tenant.apiKeys[stack.tenant.domainIds.indexOf(domainId)] ?? '';

describe('a server that records for its visitors', () => {
  const record = (domainId: string, body: object, headers: Record<string, string> = {}, baseUrl = stack.api.baseUrl) =>
    request(baseUrl, `/v1/consent/${domainId}/record`, {
      method: 'POST',
      headers: { 'x-api-key': keyOf(domainId), 'content-type': 'application/json', 'user-agent': 'node', ...headers },
      body: JSON.stringify({ decision: 'accept_all', ...body }),
    });
  const stored = async (domainId: string, count: number) =>
    (await recordsOf({ ...stack, domainId }, count)).sort((one, other) =>
      (one.visitorId ?? '') < (other.visitorId ?? '') ? -1 : 1,
    );
  const bearer = (scope: string) => ({ authorization: `Bearer ${tokenFor(stack.tenant.organizationId, { scope })}` });
  const importRows = (domainId: string, rows: object[]) =>
    request<Imported>(stack.api.baseUrl, `/v1/consent/${domainId}/import`, {
      method: 'POST',
      headers: { ...bearer('import'), 'content-type': 'application/x-ndjson' },
      body: rows.map((row) => `${JSON.stringify(row)}\n`).join(''),
    });
  /** The choices and the rate, once all that was stored before is in them. */
  const rates = async (domainId: string) => {
    await closeOpenEpoch(stack.db);
    const query = `from=${dayOf(Date.now() - 86_400_000)}&to=${dayOf(Date.now())}&by=source`;
    return async () => {
      await deriveFacets(stack.db);
      const { body } = await request<DomainStats>(stack.api.baseUrl, `/v1/consent/${domainId}/stats?${query}`, {
        headers: bearer('read'),
      });
      const counted = (body.groups as StatsGroup[]).reduce((all, { total }) => all + total, body.bots ?? 0);
      return { counted, bots: body.bots, choices: body.choices };
    };
  };

  it('with the key: its own address and country are stored, whatever it forwards, and `source` decides on rates', async () => {
    const forwarded = { 'x-forwarded-for': visitor.ip };
    await record(ofRecord, { visitorId: '1' }, forwarded);
    await record(ofRecord, { visitorId: '2', source: 'api' }, forwarded);
    await record(ofRecord, { visitorId: '3' }, { ...forwarded, 'user-agent': visitor.userAgent });
    const all = await stored(ofRecord, 3);
    for (const each of all) expect(each).toMatchObject({ ip: '127.0.0.1', country: 'SE' });
    expect(all).toMatchObject([
      { source: 'banner', bot: true },
      { source: 'api', bot: false, userAgent: 'node' },
      { source: 'banner', bot: false, userAgent: visitor.userAgent },
    ]);
    const read = await rates(ofRecord);
    await eventually(async () => expect(await read()).toEqual({ counted: 3, bots: 1, choices: 1 }));
  });

  it('all of its visitors share one limit, which RECORD_RATE_PER_MINUTE raises', async () => {
    onTestFinished(holdTheMinute());
    const statuses: number[] = [];
    for (let each = 0; each <= limit; each += 1)
      statuses.push((await record(ofLimit, { source: 'api' }, { 'x-forwarded-for': `203.0.113.${each}` })).status);
    expect(statuses).toEqual([...Array(limit).fill(202), 429]);
    const higher = await startApi({ ...stack.env, ...env, RECORD_RATE_PER_MINUTE: '100' });
    expect((await record(ofLimit, { source: 'api' }, {}, higher.baseUrl)).status).toBe(202);
    // imports do not count in it
    expect((await importRows(ofLimit, [{ decision: 'withdraw', decidedAt: new Date().toISOString() }])).status).toBe(
      200,
    );
  });

  it('behind TRUSTED_PROXY_HOPS, what it forwards to the API itself is the visitor’s address, for the limit too', async () => {
    const api = await startApi({ ...stack.env, ...env, TRUSTED_PROXY_HOPS: '1', COUNTRY_HEADER: 'x-country' });
    for (let each = 0; each <= limit; each += 1) {
      const headers = { 'x-forwarded-for': `203.0.113.${each}`, ...(each === 0 && { 'x-country': 'FR' }) };
      expect((await record(ofProxy, { visitorId: String(each), source: 'api' }, headers, api.baseUrl)).status).toBe(
        202,
      );
    }
    const [first, second] = await stored(ofProxy, limit + 1);
    expect(first).toMatchObject({ ip: '203.0.113.0', country: 'FR' });
    expect(second).toMatchObject({ ip: '203.0.113.1', country: 'DE' });
  });

  it('with an import: the row’s own address, browser and country, and no rate', async () => {
    const row = { decision: 'accept_all', decidedAt: new Date(Date.now() - 1_000).toISOString() };
    const { status, body } = await importRows(ofImport, [
      { ...row, visitorId: '1', ...visitor, country: 'NL', source: 'banner' },
      { ...row, visitorId: '2', ip: visitor.ip },
      { ...row, visitorId: '3', userAgent: 'Googlebot/2.1' },
    ]);
    expect({ status, body }).toMatchObject({ status: 200, body: { queued: 3, rejected: 0 } });
    expect(await stored(ofImport, 3)).toMatchObject([
      { ip: visitor.ip, country: 'NL', userAgent: visitor.userAgent, source: 'import', bot: false },
      { ip: visitor.ip, country: null, userAgent: null, source: 'import', bot: false },
      { ip: null, country: null, source: 'import', bot: true },
    ]);
    const read = await rates(ofImport);
    await eventually(async () => expect(await read()).toMatchObject({ counted: 3, choices: 0 }));
  });
});
