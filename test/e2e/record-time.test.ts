import { beforeAll, describe, expect, it } from 'vitest';
import { addDays, dayOf, firstDay, monthOf, startOf } from '#libs/contract/calendar';
import { makeIdAt, timeOf } from '#libs/contract/uuid';
import { expectProblem } from '../support/problems.ts';
import { at, type Stack, useStack } from '../support/stack.ts';
import { eventually } from '../support/wait.ts';

const second = 1_000;
const minute = 60 * second;
const day = 24 * 60 * minute;

const now = Date.now();
const today = dayOf(now);
const yesterday = addDays(today, -1);
const monthEdge = startOf(firstDay(monthOf(now)));

describe("a record's time is the time of its id", () => {
  let stack: Stack;

  beforeAll(async () => {
    stack = await useStack({ tenant: { domains: 4 } });
  });

  const record = (domain: number, time: number) =>
    stack.client.record(at(stack.tenant.domainIds, domain), at(stack.tenant.apiKeys, domain), {
      decision: 'custom',
      id: makeIdAt(time),
    });

  it.each([
    ['just inside 30 days ago', -30 * day + 5 * second],
    ['now', 0],
    ['just inside 5 minutes ahead', 5 * minute - 5 * second],
  ])('%s: accepted', async (_, offset) => {
    const time = Date.now() + offset;
    const { status, body } = await record(0, time);
    expect({ status, decidedAt: body.decidedAt }).toEqual({ status: 202, decidedAt: new Date(time).toISOString() });
  });

  it.each([
    ['just beyond 30 days ago', () => Date.now() - 30 * day - second],
    ['just beyond 5 minutes ahead', () => Date.now() + 5 * minute + 5 * second],
    ['1970', () => 0],
    ['the last moment that an id can carry', () => 2 ** 48 - 1],
  ])('%s: id_time_out_of_range, with the time to correct by', async (_, time) => {
    const before = Date.now();
    const answer = await record(0, time());
    expectProblem(answer, 400, 'id_time_out_of_range');
    expect(answer.body.errors?.map((error) => error.path)).toEqual(['/id']);
    const serverTime = Date.parse(answer.body.serverTime ?? '');
    expect(serverTime).toBeGreaterThanOrEqual(before);
    expect(serverTime).toBeLessThanOrEqual(Date.now());
  });

  it('a client whose clock is wrong records once it corrects it by serverTime', async () => {
    const wrong = Date.now() - 400 * day;
    const refused = await record(0, wrong);
    const offset = Date.parse(refused.body.serverTime ?? '') - wrong;
    expect((await record(0, wrong + offset)).status).toBe(202);
  });

  /** One record on either side of the edge. */
  const recordAround = async (domain: number, edge: number) => {
    for (const time of [edge - 1, edge]) expect((await record(domain, time)).status).toBe(202);
  };
  const totals = async (domain: number, query: string) => {
    const { body } = await stack.client.stats(at(stack.tenant.domainIds, domain), query);
    return body.series?.map((bucket) => [Object.values(bucket)[0], bucket.total]);
  };

  it('the last millisecond of a UTC day counts for that day, the next one for the next', async () => {
    await recordAround(1, startOf(today));
    await eventually(async () => {
      expect(await totals(1, `from=${yesterday}&to=${today}&interval=day`)).toEqual([
        [yesterday, 1],
        [today, 1],
      ]);
    });
    const domainId = at(stack.tenant.domainIds, 1);
    const { body: before } = await stack.client.records(domainId, `to=${yesterday}`);
    const { body: after } = await stack.client.records(domainId, `from=${today}`);
    expect(before.records.map(({ decidedAt }) => decidedAt)).toEqual([`${yesterday}T23:59:59.999Z`]);
    expect(after.records.map(({ decidedAt }) => decidedAt)).toEqual([`${today}T00:00:00.000Z`]);
  });

  // on the 31st the first lies outside the accepted window
  it.skipIf(monthEdge < now - 30 * day + minute)('the same holds for months', async () => {
    await recordAround(2, monthEdge);
    const last = dayOf(monthEdge - 1);
    const first = dayOf(monthEdge);
    await eventually(async () => {
      expect(await totals(2, `from=${firstDay(monthOf(monthEdge - 1))}&to=${today}&interval=month`)).toEqual([
        [last.slice(0, 7), 1],
        [first.slice(0, 7), 1],
      ]);
    });
    expect(await totals(2, `from=${last}&to=${first}&interval=day`)).toEqual([
      [last, 1],
      [first, 1],
    ]);
  });

  it('a record ahead of the server counts for its own day', async () => {
    const { body } = await record(3, Date.now() + 4 * minute);
    const own = dayOf(timeOf(body.id));
    await eventually(async () => {
      expect(await totals(3, `from=${addDays(own, -1)}&to=${addDays(own, 1)}&interval=day`)).toEqual([
        [addDays(own, -1), 0],
        [own, 1],
        [addDays(own, 1), 0],
      ]);
    });
  });
});
