import { beforeAll, describe, expect, it } from 'vitest';
import { type ProblemAnswer, request } from '../support/client.ts';
import { expectProblem } from '../support/problems.ts';
import { exchange } from '../support/raw-http.ts';
import { type Stack, useStack } from '../support/stack.ts';

/** Bytes, packed: what a first visit loads. */
const firstLoad = 40_000;

describe('the files of the dashboard', () => {
  let stack: Stack;
  let html: string;
  let assets: string[];

  beforeAll(async () => {
    stack = await useStack();
    html = await (await get('/')).text();
    assets = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address]) => address ?? '');
  });

  const get = (path: string, headers: Record<string, string> = {}) =>
    fetch(stack.api.baseUrl + path, { headers: { 'accept-encoding': 'identity', ...headers } });

  it('are one page, which is asked for anew each time and sent only when it changed', async () => {
    const first = await get('/');
    expect(first.status).toBe(200);
    expect(first.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(first.headers.get('cache-control')).toBe('no-cache');
    const second = await get('/', { 'if-none-match': first.headers.get('etag') ?? '' });
    expect([second.status, await second.text()]).toEqual([304, '']);
    const ofDomain = ['', '/by/bannerVersion', '/experiments', '/log?page=2', '/visitor', '/settings', '/widget'].map(
      (each) => `/domains/${stack.domainId}${each}`,
    );
    for (const path of [
      ...ofDomain,
      '/sign-in',
      '/domains',
      '/new-domain',
      '/activity',
      '/webhooks',
      '/webhooks/new',
      '/webhooks/wh_1',
    ]) {
      expect(await (await get(path)).text()).toBe(html);
    }
  });

  it('have nothing inline and nothing from elsewhere, and the policy allows neither', async () => {
    const policy = (await get('/')).headers.get('content-security-policy') ?? '';
    expect(policy).toBe(
      "default-src 'none';script-src 'self';connect-src 'self';base-uri 'none';form-action 'none';frame-ancestors 'none';style-src 'self';img-src 'self';frame-src 'self'",
    );
    expect(html).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\son\w+=|\sstyle=/);
    expect(assets.length).toBe(3);
    expect(assets.filter((address) => !/^\/assets\/[\w-]+-[\w-]{8}\.(js|css|svg)$/.test(address))).toEqual([]);
  });

  it('are kept for ever under names that hold their hash', async () => {
    for (const address of assets) {
      const response = await get(address);
      expect(response.status).toBe(200);
      expect(response.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
      expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    }
  });

  it(`are at most ${firstLoad} bytes, packed`, async () => {
    let sum = 0;
    for (const address of ['/', ...assets]) {
      const head = `GET ${address} HTTP/1.1\r\nHost: a\r\nAccept-Encoding: gzip\r\nConnection: close\r\n\r\n`;
      const { headers } = await exchange(stack.api.baseUrl, [head]);
      expect(headers.get('content-encoding')).toBe('gzip');
      sum += Number(headers.get('content-length'));
      const packed = await get(address, { 'accept-encoding': 'gzip' });
      expect(await packed.text()).toBe(await (await get(address)).text());
    }
    console.log(`the dashboard's first load: ${sum} bytes`);
    expect(sum).toBeGreaterThan(10_000);
    expect(sum).toBeLessThan(firstLoad);
  });

  it('other methods and other names are refused', async () => {
    const post = await request<ProblemAnswer>(stack.api.baseUrl, '/', { method: 'POST' });
    expectProblem(post, 405, 'method_not_allowed');
    const missing = await request<ProblemAnswer>(stack.api.baseUrl, '/assets/index-00000000.js');
    expectProblem(missing, 404, 'not_found');
    const groups = await request<ProblemAnswer>(stack.api.baseUrl, `/domains/${stack.domainId}/by/weather`);
    expectProblem(groups, 404, 'not_found');
    const webhook = await request<ProblemAnswer>(stack.api.baseUrl, '/webhooks/other');
    expectProblem(webhook, 404, 'not_found');
  });
});
