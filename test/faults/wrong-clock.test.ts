/** A process whose clock is more than a year ahead, and one whose clock is right, beside a Postgres whose clock is right. */
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { request } from 'node:http';
import path from 'node:path';
import { expect, inject, it } from 'vitest';
import { makeIdAt } from '#libs/base/terms/calendar';
import { listMonths, makeMonth } from '#libs/record/month-partitions';
import { clockOfProcess } from '../../scripts/chaos/clocks.ts';
import { createClient } from '../support/client.ts';
import { sampleOf } from '../support/metrics.ts';
import { expectProblem } from '../support/problems.ts';
import { startApiProcess, startWorker } from '../support/service.ts';
import { at, openStores } from '../support/stack.ts';
import { makeTenant } from '../support/stores.ts';
import { eventually } from '../support/wait.ts';

const ahead = 400 * 86_400_000;

const { db, env } = await openStores();

it('an API whose clock is 400 days ahead has a decision sent again that it takes for too old, also one that arrives while the clock is set right, and records others', async () => {
  const clock = clockOfProcess(path.join(mkdtempSync(path.join(inject('folder'), 'clock-')), 'ahead'));
  clock.set(ahead);
  const tenant = await makeTenant(db);
  const [domainId, apiKey] = [at(tenant.domainIds, 0), at(tenant.apiKeys, 0)];
  const api = await startApiProcess({ ...env, ...clock.env });
  const client = createClient(api.baseUrl, tenant);
  const record = (time: number) => client.record(domainId, apiKey, { decision: 'custom', id: makeIdAt(time) });
  const skew = () => sampleOf(api.opsUrl, 'assent_clock_skew_seconds');
  const answer = await record(Date.now());
  expectProblem(answer, 503, 'unavailable');
  expect(Number(answer.headers.get('Retry-After'))).toBeGreaterThan(0);
  expect(answer.body.serverTime).toBeUndefined();
  expect((await record(Date.now() + ahead)).status).toBe(202);
  expect(Math.round((await skew()) / 60)).toBe(ahead / 60_000);

  const body = JSON.stringify({ decision: 'custom', id: makeIdAt(Date.now()) });
  const sent = request(`${api.baseUrl}/v1/consent/${domainId}/record`, {
    method: 'POST',
    headers: {
      ...{ 'content-type': 'application/json', 'content-length': String(body.length), expect: '100-continue' },
      'x-api-key': apiKey,
    },
  });
  sent.flushHeaders();
  // the request has arrived
  await once(sent, 'continue');
  clock.set(0);
  await eventually(async () => expect(await skew()).toBeLessThan(30));
  sent.end(body);
  const [response] = await once(sent, 'response');
  response.resume();
  expect(response.statusCode).toBe(503);
});

it('with the right clock a worker tells of a month that is due, and leaves it for now', async () => {
  await db.run((sql) => makeMonth(sql, '2019-01'));
  const { opsUrl, logged } = await startWorker({ ...env, RECORD_RETENTION_MONTHS: '12' });
  expect(await logged('months_due')).toMatchObject({ months: ['2019-01'] });
  await eventually(async () => expect(await sampleOf(opsUrl, 'assent_months_due{act="drop"}')).toBe(1));
  expect(Math.abs(await sampleOf(opsUrl, 'assent_clock_skew_seconds'))).toBeLessThan(30);
  expect(await db.run(listMonths)).toContain('2019-01');
});
