import { beforeAll, describe, expect, it } from 'vitest';
import { type Answer, type Client, createClient, type ProblemAnswer, request, tokenFor } from '../support/client.ts';
import { expectBlame, expectProblem, indistinguishable } from '../support/problems.ts';
import { recordAt } from '../support/records.ts';
import { at, type Stack, storeRecords, useStack } from '../support/stack.ts';
import { makeTenant, type Tenant } from '../support/stores.ts';

const range = 'from=2026-01-01&to=2026-12-31';

describe('an organization sees only its own', () => {
  let stack: Stack;
  let stranger: Tenant;
  let strange: Client;
  let foreignDomain: string;

  beforeAll(async () => {
    stack = await useStack();
    stranger = await makeTenant(stack.db, { domains: 2 });
    strange = createClient(stack.api.baseUrl, stranger);
    foreignDomain = at(stranger.domainIds, 0);
    const records = stranger.domainIds.flatMap((domainId) =>
      Array.from({ length: 3 }, () => recordAt(Date.now(), { domainId, visitorId: 'theirs' })),
    );
    await storeRecords(stack, records);
  });

  it.each([
    ['stats', `stats?${range}`],
    ['stats by day', `stats?${range}&interval=day`],
    ['records', 'records'],
    ['records of a visitor', 'records?visitorId=theirs'],
  ])('%s: another organization is domain_not_found, as if it did not exist', async (_, rest) => {
    const authorization = `Bearer ${tokenFor(stack.tenant.organizationId)}`;
    const read = (domainId: string): Promise<Answer<ProblemAnswer>> =>
      request(stack.api.baseUrl, `/v1/consent/${domainId}/${rest}`, {
        headers: { authorization, 'x-request-id': 'same' },
      });
    const foreign = await read(foreignDomain);
    expectProblem(foreign, 404, 'domain_not_found');
    expect(indistinguishable(foreign)).toBe(indistinguishable(await read('dom_00000000000000000000')));
  });

  it('its own domain is there, and empty', async () => {
    expect((await stack.client.stats(stack.domainId, range)).body.total).toBe(0);
    expect((await stack.client.records(stack.domainId)).body).toMatchObject({ total: 0, totalPages: 0, records: [] });
  });

  it('org-stats and the menu hold nothing of another organization', async () => {
    const { body } = await stack.client.orgStats();
    expect(body).toMatchObject({ total: 0, recordsTotal: 0, records: [] });
    const { body: menu } = await stack.client.organization();
    expect(menu.domains.map((domain) => domain.domainId)).toEqual(stack.tenant.domainIds);
    expect(menu.usage.used).toBe(0);
    expect((await strange.orgStats()).body).toMatchObject({ total: 6, recordsTotal: 6 });
  });

  it('a cursor is of use only to whom it was given, for the list it was given for', async () => {
    const { body: page } = await strange.records(foreignDomain, 'limit=1');
    const { body: all } = await strange.orgStats('limit=1');
    const [ofDomain, ofAll] = [page.nextCursor ?? '', all.nextCursor ?? ''];
    expect((await strange.records(foreignDomain, `cursor=${ofDomain}`)).status).toBe(200);
    expect((await strange.orgStats(`cursor=${ofAll}`)).status).toBe(200);
    const flipped = `${ofDomain.startsWith('A') ? 'B' : 'A'}${ofDomain.slice(1)}`;
    for (const answer of [
      await stack.client.records(stack.domainId, `cursor=${ofDomain}`),
      await stack.client.orgStats(`cursor=${ofAll}`),
      await strange.records(at(stranger.domainIds, 1), `cursor=${ofDomain}`),
      await strange.records(foreignDomain, `cursor=${ofAll}`),
      await strange.orgStats(`cursor=${ofDomain}`),
      await strange.records(foreignDomain, `cursor=${flipped}`),
      await strange.records(foreignDomain, `cursor=${ofDomain.slice(0, -1)}`),
      await strange.records(foreignDomain, `cursor=${ofDomain}A`),
      await strange.records(foreignDomain, 'cursor=1'),
    ]) {
      expectBlame(answer, '/cursor');
    }
  });
});
