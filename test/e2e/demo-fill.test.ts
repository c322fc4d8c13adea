/** `assent demo fill` beside a running worker. */
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import { planDays, recordsOf } from '../../apps/cli/demo/visits.ts';
import { spawnTethered } from '../../scripts/stack/tether.ts';
import { createCli } from '../support/cli.ts';
import { runCliIn, startWorker } from '../support/service.ts';
import { openStores, type Stores } from '../support/stack.ts';
import { makeTenant } from '../support/stores.ts';

interface Filled {
  organizationId: string;
  added: number;
  present: number;
  stopped: boolean;
  counters: { checked: number; differences: number };
}

const until = '2026-11-19T12:00:00Z';
/** What a fill with these options makes. */
const made = (records: number, months: number): string[] => {
  const period = { seed: 'test', records, months, until: Date.parse(until) };
  return planDays(period)
    .flatMap((day) => recordsOf(day, period).map(({ id }) => id))
    .sort();
};
const options = (records: number, months: number) =>
  ['--records', `${records}`, '--months', `${months}`, '--seed', 'test', '--until', until] as const;

describe('demo fill', () => {
  let stores: Stores;
  let cli: ReturnType<typeof createCli>;

  beforeAll(async () => {
    stores = await openStores();
    cli = createCli(stores.env);
  });

  const storedIds = (organizationId: string): Promise<string[]> =>
    stores.db.run(async (sql) => {
      const rows = await sql<{ id: string }[]>`
        select id from records where organization_id = ${organizationId} order by id::text`;
      return rows.map(({ id }) => id);
    });
  const fillOf = (organizationId: string, ...args: string[]) =>
    cli.json<Filled>('demo', 'fill', '--org', organizationId, ...args);

  it('without a worker says so in one line and queues nothing', async () => {
    const { organizationId } = await makeTenant(stores.db);
    expect(await cli.error('demo', 'fill', '--org', organizationId)).toMatch(/^no worker is there/);
    expect(await cli.json('queue', 'status')).toMatchObject({ waiting: 0 });
    expect(await cli.json<{ domains: object[] }>('domain', 'list', '--org', organizationId)).toMatchObject({
      domains: [{}],
    });
  });

  describe('beside a worker', () => {
    beforeAll(async () => {
      await startWorker(stores.env);
    });

    it('stores and counts exactly what it made, and a second run adds nothing', async () => {
      const { organizationId } = await makeTenant(stores.db);
      const wanted = made(2_500, 12);
      const first = await fillOf(organizationId, ...options(2_500, 12));
      expect(first).toMatchObject({ organizationId, added: wanted.length, present: 0, stopped: false });
      expect(first.counters).toMatchObject({ differences: 0 });
      expect(await storedIds(organizationId)).toEqual(wanted);
      const { checked } = await cli.json<{ checked: number }>('counters', 'check', '--org', organizationId);
      expect(checked).toBeGreaterThan(365);
      const counted = () =>
        stores.db.run(async (sql) => {
          const [row] = await sql<{ days: number; months: number }[]>`
            select
              sum(accept_all + reject_all + custom + withdraw) filter (where length(period) = 10)::int as days,
              sum(accept_all + reject_all + custom + withdraw) filter (where length(period) = 7)::int as months
            from counters where organization_id = ${organizationId} and domain_id = ''`;
          return row;
        });
      expect(await counted()).toEqual({ days: wanted.length, months: wanted.length });

      const second = await fillOf(organizationId, ...options(2_500, 12));
      expect(second).toMatchObject({ added: 0, present: wanted.length, stopped: false });
      expect(await storedIds(organizationId)).toEqual(wanted);
      expect(await counted()).toEqual({ days: wanted.length, months: wanted.length });
    });

    it('takes the demo organization of the npm start beside it, and no other by itself', async () => {
      const { organizationId } = await makeTenant(stores.db);
      const folder = mkdtempSync(path.join(inject('folder'), 'demo-'));
      const alone = await runCliIn(folder, stores.env, 'demo', 'fill');
      expect(alone).toMatchObject({ code: 1, stdout: '' });
      expect(alone.stderr).toMatch(/^no demo organization is here: run npm start [^\n]*\n$/);

      mkdirSync(path.join(folder, '.data'));
      writeFileSync(path.join(folder, '.data/demo.json'), JSON.stringify({ organizationId }));
      const lines = Object.entries(stores.env).map(([name, value]) => `${name}=${value}\n`);
      writeFileSync(path.join(folder, '.data/env'), lines.join(''));
      const { code, stdout } = await runCliIn(folder, {}, 'demo', 'fill', ...options(200, 3), '--json');
      expect({ code, ...JSON.parse(stdout) }).toMatchObject({ code: 0, organizationId, added: made(200, 3).length });
      expect(await storedIds(organizationId)).toEqual(made(200, 3));
    });

    it('tells people how far it is, line by line where there is no terminal, and what to do next', async () => {
      const { organizationId } = await makeTenant(stores.db);
      const { code, stdout, stderr } = await cli.run('demo', 'fill', '--org', organizationId, ...options(3_000, 2));
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout).toMatch(/^100 % {2}2026-11-19 {2}[\d,]+ records {2}[\d,]+\/s {2}0:00 left$/m);
      expect(stdout).not.toContain('\r');
      expect(stdout).toMatch(/^counters +\{"checked":\d+,"differences":0\}$/m);
      expect(stdout).toMatch(/npm start/);
    });

    it('stops at Ctrl-C with all that it sent stored and counted, and goes on when run again', async () => {
      const { organizationId } = await makeTenant(stores.db);
      const wanted = made(40_000, 6);
      const main = path.join(inject('dist'), 'apps/cli/main.js');
      const args = ['demo', 'fill', '--org', organizationId, ...options(40_000, 6)];
      const run = spawnTethered(process.execPath, [main, ...args], {
        cwd: inject('folder'),
        env: { PATH: process.env.PATH, ...stores.env },
        stdout: 'pipe',
        stderr: 'pipe',
      });
      let output = '';
      let isAsked = false;
      for await (const text of run.child.stdout ?? []) {
        output += String(text);
        if (!isAsked && output.includes(' %  ')) {
          isAsked = true;
          // as a terminal and npm do it
          run.child.kill('SIGINT');
          run.child.kill('SIGINT');
        }
      }
      expect(await run.exited).toMatchObject({ code: 130 });
      expect(output).toMatch(/^stopped +true$/m);
      expect(output).toMatch(/^counters +\{"checked":\d+,"differences":0\}$/m);
      const added = Number(/^added +(\d+)$/m.exec(output)?.[1]);
      const half = await storedIds(organizationId);
      expect(half).toHaveLength(added);
      expect(added).toBeGreaterThan(0);
      expect(added).toBeLessThan(wanted.length);
      expect(await cli.json('queue', 'status')).toMatchObject({ waiting: 0, active: 0, failed: 0 });

      const rest = await fillOf(organizationId, ...options(40_000, 6));
      expect(rest).toMatchObject({ added: wanted.length - added, present: added, stopped: false });
      expect(await storedIds(organizationId)).toEqual(wanted);
    });

    it('does not reach a monthly limit unasked', async () => {
      const { organizationId } = await makeTenant(stores.db, { monthlyRecordLimit: 100 });
      expect(await cli.error('demo', 'fill', '--org', organizationId, ...options(5_000, 2))).toMatch(
        /100 records a month/,
      );
      expect(await storedIds(organizationId)).toEqual([]);
    });

    it('does not add to what an organization has of its own until the limit is reached', async () => {
      const { organizationId } = await makeTenant(stores.db, { monthlyRecordLimit: 100 });
      await stores.db.run(
        (sql) => sql`
          insert into counters (organization_id, domain_id, period, accept_all) values (${organizationId}, '', '2026-11', 95)`,
      );
      expect(await cli.error('demo', 'fill', '--org', organizationId, ...options(50, 2))).toMatch(
        /100 records a month/,
      );
      expect(await storedIds(organizationId)).toEqual([]);
    });

    it('does not fill months that retention has dropped', async () => {
      const { organizationId } = await makeTenant(stores.db);
      await stores.db.run((sql) => sql`insert into record_months (month, dropped_at) values ('2025-01', now())`);
      expect(await cli.error('demo', 'fill', '--org', organizationId, ...options(500, 24))).toMatch(/2025-01/);
      expect(await fillOf(organizationId, ...options(100, 2))).toMatchObject({ added: made(100, 2).length });
    });

    it.each([
      ['no records', ['--records', '0'], /--records/],
      ['a time to come', ['--until', '2999-01-01'], /--until/],
      ['an organization that is not there', ['--org', 'org_x'], /no organization org_x/],
    ])('refuses %s', async (_, args, says) => {
      expect(await cli.error('demo', 'fill', ...args)).toMatch(says);
    });
  });
});
