/** What every error of the contract has in common. */
import { expect } from 'vitest';
import type { Answer, ProblemAnswer } from './client.ts';

const publicFields = new Set([
  'type',
  'title',
  'status',
  'code',
  'detail',
  'requestId',
  'errors',
  'serverTime',
  'limit',
  'id',
  'erasureId',
]);

export function expectProblem(response: Answer<ProblemAnswer>, status: number, code: string): void {
  const { headers, body } = response;
  expect({ status: response.status, code: body.code, detail: body.detail }).toEqual({
    status,
    code,
    detail: expect.stringMatching(/./),
  });
  expect(headers.get('content-type')).toMatch(/^application\/problem\+json\b/);
  expect(body).toMatchObject({ status, title: expect.stringMatching(/./), type: expect.stringMatching(/./) });
  expect(headers.get('x-request-id')).toBe(body.requestId);
  for (const error of body.errors ?? []) expect(['body', 'query', 'path', 'header']).toContain(error.in);
  expect(Object.keys(body).filter((field) => !publicFields.has(field))).toEqual([]);
}

/** `invalid_request` that blames exactly these (JSON pointers). */
export function expectBlame(response: Answer<ProblemAnswer>, ...paths: string[]): void {
  expectProblem(response, 400, 'invalid_request');
  expect([...new Set(response.body.errors?.map((error) => error.path))].sort()).toEqual([...paths].sort());
}

/**
 * Everything that a caller can compare, except the time and the remaining requests: equal for two responses that must not
 * differ. The requests must have the same X-Request-Id.
 */
export function indistinguishable({ status, headers, body }: Answer<ProblemAnswer>): string {
  const rest = [...headers].filter(([name]) => name !== 'date' && name !== 'ratelimit');
  return JSON.stringify({ status, headers: rest, body });
}
