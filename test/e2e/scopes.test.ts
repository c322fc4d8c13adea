import { beforeAll, describe, expect, it } from 'vitest';
import { createOpenApi } from '#libs/contract/openapi/document';
import type { Organization } from '#libs/contract/responses';
import { makeIdAt } from '#libs/contract/uuid';
import { type ProblemAnswer, request, tokenFor } from '../support/client.ts';
import { expectProblem } from '../support/problems.ts';
import { type Stack, useStack } from '../support/stack.ts';

/** Every operation that takes an access token, as the service's own document lists them. */
const operations = Object.entries(createOpenApi().paths ?? {}).flatMap(([path, byMethod]) =>
  Object.entries(byMethod as Record<string, { security?: object[] }>)
    .filter(([, { security }]) => JSON.stringify(security ?? []).includes('accessToken'))
    .map(([method]) => ({ path, method: method.toUpperCase() })),
);
const neededBy = (method: string, path: string): string => {
  if (/\/visitors|\/erasures/.test(path)) return 'privacy';
  if (path.endsWith('/import')) return 'import';
  if (path.endsWith('/replay')) return 'manage read';
  return method === 'PUT' || /\/(webhooks|organization\/domains|acts)/.test(path) ? 'manage' : 'read';
};

describe('scopes of an access token', () => {
  let stack: Stack;

  beforeAll(async () => {
    stack = await useStack();
  });

  const send = (scope: string, method: string, path: string) =>
    request<ProblemAnswer>(stack.api.baseUrl, path, {
      method,
      headers: {
        authorization: `Bearer ${tokenFor(stack.tenant.organizationId, { scope })}`,
        ...(method === 'POST' && { 'content-type': 'application/json' }),
      },
      body: method === 'POST' ? '{}' : null,
    });
  const pathOf = (template: string) =>
    template
      .replace('{domainId}', stack.domainId)
      .replace('{recordId}', makeIdAt(0))
      .replace('{webhookId}', 'wh_x')
      .replaceAll(/\{\w+\}/g, 'x');

  it.each(operations.filter(({ path }) => path !== '/v1/organization'))(
    '$method $path wants its own scope before it looks at parameters',
    async ({ method, path }) => {
      const needed = neededBy(method, path);
      const others = ['read', 'privacy', 'import', 'manage']
        .filter((scope) => !needed.split(' ').includes(scope))
        .join(' ');
      const refused = await send(others, method, `${pathOf(path)}?unknown=x`);
      expectProblem(refused, 403, 'insufficient_scope');
      expect(refused.headers.get('www-authenticate')).toBe(
        `Bearer error="insufficient_scope", scope="${needed.split(' ')[0]}"`,
      );
      expect((await send(needed, method, `${pathOf(path)}?unknown=x`)).status).toBe(400);
    },
  );

  it.each<[string, unknown, string[]]>([
    ['words', 'read manage', ['read', 'manage']],
    ['words of others beside ours', 'openid privacy', ['privacy']],
    ['a list', ['import', 'read', 1], ['read', 'import']],
    ['all of them', 'manage import privacy read', ['read', 'privacy', 'import', 'manage']],
    ['no claim', undefined, ['read']],
    ['only words of others', 'openid email', ['read']],
    ['an empty text', '', ['read']],
    ['something else', { read: true }, ['read']],
  ])('are told by the organization: %s', async (_, scope, scopes) => {
    const claims = scope === undefined ? {} : { scope };
    const { status, body } = await request<Organization>(stack.api.baseUrl, '/v1/organization', {
      headers: { authorization: `Bearer ${tokenFor(stack.tenant.organizationId, claims)}` },
    });
    expect([status, body.scopes]).toEqual([200, scopes]);
  });
});
