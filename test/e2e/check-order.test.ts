import { beforeAll, describe, expect, it } from 'vitest';
import { makeIdAt } from '#libs/contract/uuid';
import { type Answer, type ProblemAnswer, request, tokenFor } from '../support/client.ts';
import { expectProblem } from '../support/problems.ts';
import { type Stack, useStack } from '../support/stack.ts';

const tooLarge = 'x'.repeat(20_000);
const mine = 'https://shop.example';
const evil = 'https://evil.example';
const json = 'application/json';

describe('of several mistakes, the first in the order of the contract is told', () => {
  let stack: Stack;

  beforeAll(async () => {
    stack = await useStack({ tenant: { origins: [mine], consentLog: false } });
  });

  it.each<[string, number, string, { method?: string; key?: boolean; origin: string; type: string; body: string }]>([
    ['method', 405, 'method_not_allowed', { method: 'PUT', origin: evil, type: 'text/plain', body: tooLarge }],
    ['credentials', 401, 'invalid_api_key', { origin: evil, type: 'text/plain', body: tooLarge }],
    ['origin', 403, 'origin_not_allowed', { key: true, origin: evil, type: 'text/plain', body: tooLarge }],
    ['content type', 415, 'unsupported_media_type', { key: true, origin: mine, type: 'text/plain', body: tooLarge }],
    ['size', 413, 'payload_too_large', { key: true, origin: mine, type: json, body: tooLarge }],
    ['syntax', 400, 'invalid_json', { key: true, origin: mine, type: json, body: '{' }],
    ['fields', 400, 'invalid_request', { key: true, origin: mine, type: json, body: `{"id":"${makeIdAt(0)}"}` }],
    [
      'time',
      400,
      'id_time_out_of_range',
      { key: true, origin: mine, type: json, body: `{"decision":"custom","id":"${makeIdAt(0)}"}` },
    ],
  ])('record: %s → %i %s', async (_, status, code, { method = 'POST', key, origin, type, body }) => {
    const answer: Answer<ProblemAnswer> = await request(stack.api.baseUrl, `/v1/consent/${stack.domainId}/record`, {
      method,
      headers: { origin, 'content-type': type, ...(key && { 'x-api-key': stack.apiKey }) },
      body,
    });
    expectProblem(answer, status, code);
  });

  it.each<[string, number, string, { token?: boolean; domain?: boolean; query: string }]>([
    ['credentials', 401, 'missing_token', { query: 'page=0' }],
    ['parameters', 400, 'invalid_request', { token: true, query: 'page=0' }],
    ['a cursor', 400, 'invalid_request', { token: true, query: 'cursor=x' }],
    ['the domain', 404, 'domain_not_found', { token: true, query: 'page=1' }],
    ['the plan', 403, 'plan_feature_required', { token: true, domain: true, query: 'page=1' }],
    ['parameters before the plan', 400, 'invalid_request', { token: true, domain: true, query: 'page=0' }],
  ])('records: %s → %i %s', async (_, status, code, { token, domain, query }) => {
    const path = `/v1/consent/${domain ? stack.domainId : 'dom_unknown'}/records?${query}`;
    const headers: Record<string, string> = token
      ? { authorization: `Bearer ${tokenFor(stack.tenant.organizationId)}` }
      : {};
    expectProblem(await request<ProblemAnswer>(stack.api.baseUrl, path, { headers }), status, code);
  });

  it.each<[string, number, string, { token?: boolean; domain?: boolean; rest: string }]>([
    ['credentials', 401, 'missing_token', { rest: 'records/x/proof?log=0' }],
    ['parameters', 400, 'invalid_request', { token: true, rest: `records/${makeIdAt(0)}/proof?log=0` }],
    ['the path', 400, 'invalid_request', { token: true, rest: 'records/x/proof' }],
    ['the domain', 404, 'domain_not_found', { token: true, rest: `records/${makeIdAt(0)}/proof` }],
    ['the plan', 403, 'plan_feature_required', { token: true, domain: true, rest: `records/${makeIdAt(0)}/proof` }],
    ['the plan', 403, 'plan_feature_required', { token: true, domain: true, rest: 'log/tile/entries/x' }],
    ['parameters', 400, 'invalid_request', { token: true, rest: 'export?format=xml' }],
    ['the domain', 404, 'domain_not_found', { token: true, rest: 'export' }],
    ['the plan', 403, 'plan_feature_required', { token: true, domain: true, rest: 'export' }],
    ['the log, which no plan gates', 404, 'not_found', { token: true, domain: true, rest: 'log/checkpoint' }],
  ])('the sealed log: %s → %i %s', async (_, status, code, { token, domain, rest }) => {
    const path = `/v1/consent/${domain ? stack.domainId : 'dom_unknown'}/${rest}`;
    const headers: Record<string, string> = token
      ? { authorization: `Bearer ${tokenFor(stack.tenant.organizationId)}` }
      : {};
    expectProblem(await request<ProblemAnswer>(stack.api.baseUrl, path, { headers }), status, code);
  });

  it.each<[string, number, string, { scope?: string; method?: string; domain?: boolean; rest: string }]>([
    ['credentials', 401, 'missing_token', { rest: 'visitors/%00?x=1' }],
    ['the scope', 403, 'insufficient_scope', { scope: 'read', rest: 'visitors/%00?x=1' }],
    ['the scope', 403, 'insufficient_scope', { scope: 'manage import', method: 'DELETE', rest: 'visitors/%00' }],
    ['parameters', 400, 'invalid_request', { scope: 'privacy', rest: 'visitors/v?x=1' }],
    ['the visitor', 400, 'invalid_request', { scope: 'privacy', rest: 'visitors/%00' }],
    ['the domain', 404, 'domain_not_found', { scope: 'privacy', rest: 'visitors/v' }],
    ['the domain', 404, 'domain_not_found', { scope: 'privacy', method: 'DELETE', rest: 'visitors/v' }],
    ['the scope before the plan', 403, 'insufficient_scope', { scope: 'privacy', domain: true, rest: 'records' }],
  ])('visitors: %s → %i %s', async (_, status, code, { scope, method = 'GET', domain, rest }) => {
    const path = `/v1/consent/${domain ? stack.domainId : 'dom_unknown'}/${rest}`;
    const headers: Record<string, string> = scope
      ? { authorization: `Bearer ${tokenFor(stack.tenant.organizationId, { scope })}` }
      : {};
    expectProblem(await request<ProblemAnswer>(stack.api.baseUrl, path, { method, headers }), status, code);
  });

  it('visitors, which no plan gates', async () => {
    const answer = await request(stack.api.baseUrl, `/v1/consent/${stack.domainId}/visitors/v`, {
      headers: { authorization: `Bearer ${tokenFor(stack.tenant.organizationId, { scope: 'privacy' })}` },
    });
    expect(answer.status).toBe(200);
  });

  it.each<[string, number, string, { key?: boolean; hash?: string; origin: string; type: string; body: string }]>([
    ['credentials', 401, 'invalid_api_key', { hash: 'x', origin: evil, type: 'text/plain', body: tooLarge }],
    ['origin', 403, 'origin_not_allowed', { key: true, hash: 'x', origin: evil, type: 'text/plain', body: tooLarge }],
    ['the path', 400, 'invalid_request', { key: true, hash: 'x', origin: mine, type: 'text/plain', body: tooLarge }],
    ['content type', 415, 'unsupported_media_type', { key: true, origin: mine, type: 'text/plain', body: tooLarge }],
    ['size', 413, 'payload_too_large', { key: true, origin: mine, type: json, body: tooLarge }],
    ['the document', 400, 'invalid_request', { key: true, origin: mine, type: json, body: '{}' }],
  ])('a notice: %s → %i %s', async (_, status, code, { key, hash = '0'.repeat(64), origin, type, body }) => {
    const path = `/v1/consent/${stack.domainId}/notices/${hash}`;
    const answer: Answer<ProblemAnswer> = await request(stack.api.baseUrl, path, {
      method: 'PUT',
      headers: { origin, 'content-type': type, ...(key && { 'x-api-key': stack.apiKey }) },
      body,
    });
    expectProblem(answer, status, code);
  });

  it('a page that may not record hears so only with a key that is right', async () => {
    const headers = { origin: evil };
    const body = { decision: 'custom' };
    expectProblem(await stack.client.record(stack.domainId, stack.apiKey, body, headers), 403, 'origin_not_allowed');
    expectProblem(await stack.client.record(stack.domainId, `${stack.apiKey}x`, body, headers), 401, 'invalid_api_key');
    expect((await stack.client.record(stack.domainId, stack.apiKey, body, { origin: mine })).status).toBe(202);
  });
});
