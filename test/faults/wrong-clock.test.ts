/** A process whose clock is more than a year ahead, and one whose clock is right, beside a Postgres whose clock is right. */
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { request } from 'node:http';
import path from 'node:path';
import { describe, expect, inject, it } from 'vitest';
import { makeIdAt } from '#libs/base/terms/uuid';
import { listMonths, makeMonth } from '#libs/record/month-partitions';
import { clockOfProcess } from '../../scripts/chaos/clocks.ts';
import { createClient } from '../support/client.ts';
import { clockAhead } from '../support/clock.ts';
import { sampleOf } from '../support/metrics.ts';
import { expectProblem } from '../support/problems.ts';
import { startApiProcess, startWorker, startWorkerProcess } from '../support/service.ts';
import { at, openStores } from '../support/stack.ts';
import { makeTenant } from '../support/stores.ts';
import { eventually } from '../support/wait.ts';

const ahead = 400 * 86_400_000;

const stores = await openStores();
const wrong = { ...stores.env, ...clockAhead(ahead) };

describe('a clock that is 400 days ahead', () => {
  const expectSkew = async ({ opsUrl }: { opsUrl: string }) =>
    expect(Math.round((await sampleOf(opsUrl, 'assent_clock_skew_seconds')) / 60)).toBe(ahead / 60_000);

  it('makes a worker neither drop a month nor blank one', async () => {
    const months = () => stores.db.run(listMonths);
    const all = await months();
    const retention = { RECORD_RETENTION_MONTHS: '12', PERSONAL_RETENTION_MONTHS: '6' };
    const worker = await startWorkerProcess({ ...wrong, ...retention });
    const waits = () => worker.events('waits_for_clock').map(({ task }) => task);
    await eventually(() => expect(waits()).toEqual(expect.arrayContaining(['retention', 'personalRetention'])));
    expect(await months()).toEqual(all);
    await expectSkew(worker);
  });

  it('makes an API have a decision sent again that it takes for too old, and record the others', async () => {
    const tenant = await makeTenant(stores.db);
    const api = await startApiProcess(wrong);
    const client = createClient(api.baseUrl, tenant);
    const record = (time: number) =>
      client.record(at(tenant.domainIds, 0), at(tenant.apiKeys, 0), { decision: 'custom', id: makeIdAt(time) });
    const answer = await record(Date.now());
    expectProblem(answer, 503, 'unavailable');
    expect(Number(answer.headers.get('Retry-After'))).toBeGreaterThan(0);
    expect(answer.body.serverTime).toBeUndefined();
    expect((await record(Date.now() + ahead)).status).toBe(202);
    await expectSkew(api);
  });
});

it('an API whose clock is set right while a decision arrives has it sent again', async () => {
  const clock = clockOfProcess(path.join(mkdtempSync(path.join(inject('folder'), 'clock-')), 'ahead'));
  clock.set(ahead);
  const tenant = await makeTenant(stores.db);
  const api = await startApiProcess({ ...stores.env, ...clock.env });
  const body = JSON.stringify({ decision: 'custom', id: makeIdAt(Date.now()) });
  const sent = request(`${api.baseUrl}/v1/consent/${at(tenant.domainIds, 0)}/record`, {
    method: 'POST',
    headers: {
      ...{ 'content-type': 'application/json', 'content-length': String(body.length), expect: '100-continue' },
      'x-api-key': at(tenant.apiKeys, 0),
    },
  });
  sent.flushHeaders();
  // the request has arrived
  await once(sent, 'continue');
  clock.set(0);
  await eventually(async () => expect(await sampleOf(api.opsUrl, 'assent_clock_skew_seconds')).toBeLessThan(30));
  sent.end(body);
  const [response] = await once(sent, 'response');
  response.resume();
  expect(response.statusCode).toBe(503);
});

it('with the right clock a worker tells of a month that is due, and leaves it for now', async () => {
  const { db, env } = await openStores();
  await db.run((sql) => makeMonth(sql, '2019-01'));
  const { opsUrl, logged } = await startWorker({ ...env, RECORD_RETENTION_MONTHS: '12' });
  expect(await logged('months_due')).toMatchObject({ months: ['2019-01'] });
  await eventually(async () => expect(await sampleOf(opsUrl, 'assent_months_due{act="drop"}')).toBe(1));
  expect(Math.abs(await sampleOf(opsUrl, 'assent_clock_skew_seconds'))).toBeLessThan(30);
  expect(await db.run(listMonths)).toContain('2019-01');
});
