/** That each endpoint wants its token and its scope before anything else, test/journeys/tenant-matrix.test.ts shows. */
import { describe, expect, it } from 'vitest';
import { makeIdAt } from '#libs/base/terms/calendar';
import { type ProblemAnswer, request, tokenFor } from '../support/client.ts';
import { expectProblem, indistinguishable } from '../support/problems.ts';
import { at, useStack } from '../support/stack.ts';
import { makeTenant } from '../support/stores.ts';

const mine = 'https://shop.example';
const old = makeIdAt(0);

interface Asked {
  method?: string;
  /** below the domain */
  rest: string;
  /** its own, or one that does not exist */
  isUnknown?: boolean;
  hasKey?: boolean;
  scope?: string;
  origin?: string;
  type?: string;
  body?: string;
}
/** Everything is wrong with it; each line corrects the mistake that is reported first. */
const wrong = { origin: 'https://evil.example', type: 'text/plain', body: 'x'.repeat(20_000) };
const post = { ...wrong, method: 'POST', rest: 'record' };
const put = { ...wrong, method: 'PUT', rest: 'notices/x' };
const keyed = { hasKey: true, origin: mine };
const json = { ...keyed, type: 'application/json' };
const named = { rest: `notices/${'0'.repeat(64)}` };
const proof = `records/${old}/proof`;
const read = { scope: 'read' };
const visitor = { scope: 'privacy', rest: 'visitors/v', isUnknown: true };

const stack = await useStack({ tenant: { domains: 2, origins: [mine], consentLog: false } });

describe('of several mistakes, the first in the order of the contract is reported', () => {
  it.each<[string, number, string, Asked]>([
    ['recording: the method', 405, 'method_not_allowed', { ...post, method: 'PUT' }],
    ['recording: credentials', 401, 'invalid_api_key', post],
    ['recording: the origin', 403, 'origin_not_allowed', { ...post, hasKey: true }],
    ['recording: the content type', 415, 'unsupported_media_type', { ...post, ...keyed }],
    ['recording: the size', 413, 'payload_too_large', { ...post, ...json }],
    ['recording: the syntax', 400, 'invalid_json', { ...post, ...json, body: '{' }],
    ['recording: the fields', 400, 'invalid_request', { ...post, ...json, body: `{"id":"${old}"}` }],
    [
      'recording: the time',
      400,
      'id_time_out_of_range',
      { ...post, ...json, body: `{"decision":"custom","id":"${old}"}` },
    ],
    ['a notice: credentials', 401, 'invalid_api_key', put],
    ['a notice: the origin', 403, 'origin_not_allowed', { ...put, hasKey: true }],
    ['a notice: the path', 400, 'invalid_request', { ...put, ...keyed }],
    ['a notice: the content type', 415, 'unsupported_media_type', { ...put, ...keyed, ...named }],
    ['a notice: the size', 413, 'payload_too_large', { ...put, ...json, ...named }],
    ['a notice: the document', 400, 'invalid_request', { ...put, ...json, ...named, body: '{}' }],
    ['the log: parameters', 400, 'invalid_request', { ...read, rest: 'records?page=0', isUnknown: true }],
    ['the log: a cursor', 400, 'invalid_request', { ...read, rest: 'records?cursor=x', isUnknown: true }],
    ['the log: the domain', 404, 'domain_not_found', { ...read, rest: 'records', isUnknown: true }],
    ['the log: the plan', 403, 'plan_feature_required', { ...read, rest: 'records' }],
    ['a proof: parameters', 400, 'invalid_request', { ...read, rest: `${proof}?log=0`, isUnknown: true }],
    ['a proof: the path', 400, 'invalid_request', { ...read, rest: 'records/x/proof', isUnknown: true }],
    ['a proof: the domain', 404, 'domain_not_found', { ...read, rest: proof, isUnknown: true }],
    ['a proof: the plan', 403, 'plan_feature_required', { ...read, rest: proof }],
    ['a tile: the plan', 403, 'plan_feature_required', { ...read, rest: 'log/tile/entries/x' }],
    ['a checkpoint, which no plan gates', 404, 'not_found', { ...read, rest: 'log/checkpoint' }],
    ['an export: parameters', 400, 'invalid_request', { ...read, rest: 'export?format=xml', isUnknown: true }],
    ['an export: the domain', 404, 'domain_not_found', { ...read, rest: 'export', isUnknown: true }],
    ['an export: the plan', 403, 'plan_feature_required', { ...read, rest: 'export' }],
    ['a visitor: parameters', 400, 'invalid_request', { ...visitor, rest: 'visitors/v?x=1' }],
    ['a visitor: the id', 400, 'invalid_request', { ...visitor, rest: 'visitors/%00' }],
    ['a visitor: the domain', 404, 'domain_not_found', visitor],
    ['an erasure: the domain', 404, 'domain_not_found', { ...visitor, method: 'DELETE' }],
  ])('%s (%i %s)', async (_, status, code, { method = 'GET', rest, isUnknown, hasKey, scope, origin, type, body }) => {
    const path = `/v1/consent/${isUnknown ? 'dom_unknown' : stack.domainId}/${rest}`;
    const answer = await request<ProblemAnswer>(stack.api.baseUrl, path, {
      method,
      headers: {
        ...(scope && { authorization: `Bearer ${tokenFor(stack.tenant.organizationId, { scope })}` }),
        ...(hasKey && { 'x-api-key': stack.apiKey }),
        ...(origin && { origin }),
        ...(type && { 'content-type': type }),
      },
      body: body ?? null,
    });
    expectProblem(answer, status, code);
  });

  it('an API key that is wrong in any way gets one response, which does not show in which', async () => {
    const stranger = await makeTenant(stack.db);
    const { domainId, apiKey } = stack;
    const attempts: [string, string][] = [
      ...['', 'x', `${apiKey}x`, apiKey.toUpperCase(), `${apiKey}, ${apiKey}`, `ak_${'x'.repeat(32)}`].map(
        (key): [string, string] => [domainId, key],
      ),
      [domainId, 'ak_\u00e9'.padEnd(35, 'x')],
      [domainId, at(stack.tenant.apiKeys, 1)],
      [domainId, at(stranger.apiKeys, 0)],
      [at(stranger.domainIds, 0), apiKey],
      ...['dom_unknown', 'not%20a%20domain', '%00', 'x'.repeat(65)].map((id): [string, string] => [id, apiKey]),
      // it is not asked for in the query
      [`${domainId}/record?x-api-key=${apiKey}#`, ''],
    ];
    const record = (domain: string, key: string) =>
      stack.client.record(domain, key, { decision: 'custom' }, { 'x-request-id': 'same' });
    const responses = new Set<string>();
    for (const attempt of attempts) {
      const answer = await record(...attempt);
      expectProblem(answer, 401, 'invalid_api_key');
      responses.add(indistinguishable(answer));
    }
    expect(responses.size).toBe(1);
    // a page that sends it while closing learns why it has no key
    expect([...responses][0]).toContain('navigator.sendBeacon cannot send this header');
    expect((await record(domainId, apiKey)).status).toBe(202);
  });
});
