/** Several workers, hour by hour: what a wrong clock may not bring about, and what it must not keep from happening. */
import { beforeEach, describe, expect, it } from 'vitest';
import type { Database } from '#libs/base/db/database';
import { createLog } from '#libs/base/ops/process-log';
import { listMonths, makeMonth } from '#libs/record/month-partitions';
import { persist } from '#libs/record/persist/persist';
import { createAdministration } from '#libs/tenants/administration';
import { findResponse } from '#libs/tenants/idempotency';
import { findOrganizations } from '#libs/tenants/tenants';
import { createTasks } from '../../apps/worker/tasks.ts';
import { holdPostgresClock, turnedClock } from '../support/clock.ts';
import { openPool } from '../support/pool.ts';
import { recordAt } from '../support/records.ts';
import { closeOpenEpoch } from '../support/sealing.ts';
import { at } from '../support/stack.ts';
import { makeTenant, openDatabase } from '../support/stores.ts';

const hour = 3_600_000;
const days400 = 400 * 24 * hour;
const { signal } = new AbortController();

let db: Database;
let turn: (ahead: number) => Promise<void>;
let postgres: number;
let workers: ReturnType<typeof startWorker>[];

function startWorker() {
  const { clock, turned } = turnedClock(db);
  // as much as all that began before
  turned.monotonic = workers?.[0]?.turned.monotonic ?? 0;
  turned.own = postgres;
  const settings = { retentionMonths: 12, personalRetentionMonths: 6, derivations: [] };
  const lines: string[] = [];
  const log = createLog('test', 'warn', { destination: { write: (line) => lines.push(line) } });
  return { clock, turned, lines, tasks: createTasks({ ...settings, db, clock, log }) };
}

beforeEach(async () => {
  const { url, db: first } = await openDatabase();
  ({ turn } = await holdPostgresClock(first));
  db = openPool(url, { max: 4 });
  postgres = 0;
  workers = [];
  workers = [startWorker(), startWorker()];
  await measure();
});

const measure = () => Promise.all(workers.map(({ clock }) => clock.measure()));

/** Time passes, for everyone. */
async function pass(milliseconds: number): Promise<void> {
  for (const { turned } of workers) {
    turned.own += milliseconds;
    turned.monotonic += milliseconds;
  }
  postgres += milliseconds;
  await turn(postgres);
  await measure();
}

/** A clock jumps: Postgres' too, as on one host, or that of some workers alone. */
async function jump(milliseconds: number, whose = workers, withPostgres = true): Promise<void> {
  for (const { turned } of whose) turned.own += milliseconds;
  if (withPostgres) postgres += milliseconds;
  await turn(postgres);
  await measure();
}

/** So many hours, in each of which some worker has its round. */
async function work(hours: number, worker = (count: number) => workers[count % workers.length]): Promise<void> {
  for (let count = 0; count < hours; count += 1) {
    await pass(hour);
    await worker(count)?.tasks.retention(signal);
    await worker(count)?.tasks.personalRetention(signal);
  }
}

/** What is due as things are: a month of a year ago and more. */
const oldMonth = new Date(Date.now() - days400 - 31 * 24 * hour).toISOString().slice(0, 7);
const months = () => db.run(listMonths);
const addOldMonth = () => db.run((sql) => makeMonth(sql, oldMonth));

describe('a month past retention', () => {
  it('goes once twenty hourly rounds have found it due, in whichever workers, and however often rounds are told to run', async () => {
    await addOldMonth();
    const all = await months();
    // the first round of each worker is within the hour that it has to watch
    for (const { tasks } of workers) await tasks.retention(signal);
    await work(19);
    for (const { tasks } of workers) for (let again = 0; again < 3; again += 1) await tasks.retention(signal);
    expect(await months()).toEqual(all);
    await work(1);
    expect(await months()).toEqual(all.filter((month) => month !== oldMonth));
  });

  it('is not counted, and not forgotten either, by a worker whose clock differs', async () => {
    await addOldMonth();
    const all = await months();
    const [good, bad] = [at(workers, 0), at(workers, 1)];
    await work(10, () => good);
    for (const wrong of [days400, -2 * days400]) {
      await jump(wrong, [bad], false);
      await work(30, () => bad);
    }
    expect(await months()).toEqual(all);
    for (const task of ['retention', 'personalRetention'])
      expect(bad.lines.join()).toContain(`${task} waits until the clocks of worker and Postgres agree`);
    await work(10, () => good);
    expect(await months()).not.toContain(oldMonth);
  });

  it('starts anew where the clocks of the host jump, and with a clock that was wrong for less than a day nothing goes', async () => {
    await addOldMonth();
    const all = await months();
    await work(19);
    // all months are due, and the old one is no further than they are
    await jump(days400);
    await work(19);
    expect(await months()).toEqual(all);
    await jump(-days400);
    await work(19);
    expect(await months()).toEqual(all);
    // of those that were due by the wrong clock none is any more
    await work(2);
    expect(await months()).toEqual(all.filter((month) => month !== oldMonth));
  });

  it('does not start anew with a jump that happened before its count began, whichever worker tells of it later', async () => {
    await addOldMonth();
    const [first, second] = workers;
    await jump(5 * 60_000);
    await work(15, () => first);
    await work(6, () => second);
    expect(await months()).not.toContain(oldMonth);
  });
});

it('personal fields of a month wait as long, and what an import brings to it later goes with the next round', async () => {
  const [domainId = ''] = (await makeTenant(db)).domainIds;
  const store = async () => {
    await persist(db, [recordAt(Date.now() - 300 * 24 * hour, { domainId, visitorId: 'ann' })]);
    await closeOpenEpoch(db);
  };
  const named = async () => {
    const [row] = await db.run((sql) => sql<{ named: number }[]>`select count(visitor_id)::int as named from records`);
    return row?.named;
  };
  await store();
  await work(19);
  expect(await named()).toBe(1);
  await work(2);
  expect(await named()).toBe(0);
  await store();
  await work(1);
  expect(await named()).toBe(0);
});

it('what Postgres alone takes for old goes on: a token stays revoked, and a request that is sent again makes nothing', async () => {
  const { organizationId } = await makeTenant(db);
  const admin = createAdministration(db, 'olga');
  const revoked = async () => {
    const found = await db.read((sql) => findOrganizations(sql, [organizationId]));
    return [...(found.get(organizationId)?.revokedTokens ?? [])].toSorted();
  };
  const asked = Buffer.from('a request');
  await db.write(
    (sql) => sql`
      insert into idempotent_answers (organization_number, request, body, answer)
      select number, ${asked}, '', '' from organizations where id = ${organizationId}`,
  );
  const isAnswered = async () => (await db.read((sql) => findResponse(sql, organizationId, asked))) !== undefined;
  await admin.revokeToken(organizationId, 'before', 3_600);
  await turn(days400);
  expect([await revoked(), await isAnswered()]).toEqual([['before'], true]);
  // nor is it forgotten with the next one
  await admin.revokeToken(organizationId, 'ahead', 3_600);
  await expect(admin.revokeTokens(organizationId)).rejects.toThrow(/the clocks .* differ by -345\d{5} seconds/);
  await turn(-days400);
  await admin.revokeToken(organizationId, 'behind', 3_600);
  await expect(admin.revokeTokens(organizationId)).rejects.toThrow(/the clocks .* differ/);
  await turn(0);
  expect(await revoked()).toEqual(['ahead', 'before', 'behind']);
  await admin.revokeTokens(organizationId);
});

it('a step of the own clock shows at once, also while Postgres is away, and a slow drift is no jump', async () => {
  const { clock, turned } = at(workers, 0);
  expect([clock.agrees(), clock.sinceJump()]).toEqual([true, null]);
  for (let count = 0; count < 50; count += 1) {
    await jump(1_000);
    await pass(hour);
  }
  expect(clock.sinceJump()).toBeNull();
  expect(clock.steadyFor()).toBeGreaterThanOrEqual(50 * hour);
  await db.close();
  turned.own += days400;
  expect(clock.agrees()).toBe(false);
  expect(clock.skew()).toBeGreaterThan(days400 - hour);
  turned.own -= days400;
  expect(clock.agrees()).toBe(true);
});
