import { describe, expect, it } from 'vitest';
import { blankMonth, blankOldMonths } from '#libs/privacy/blank-months';
import { persist } from '#libs/record/persist/persist';
import { deleteUnreferencedUserAgents, deleteUserAgentsOfGoneMonths } from '#libs/record/user-agent-deletion';
import { atOnce } from '../support/clock.ts';
import { recordAt } from '../support/records.ts';
import { closeOpenEpoch } from '../support/sealing.ts';
import { makeTenant, openDatabase } from '../support/stores.ts';

const { db, sql } = await openDatabase();
const { domainIds } = await makeTenant(db, { domains: 2 });

const { signal } = new AbortController();
const now = Date.parse('2026-12-15T00:00:00.000Z');

/** So many for each domain, from that second of the month on. */
async function store(month: string, count: number, second = 0): Promise<void> {
  const begin = Date.parse(`${month}-10T00:00:00.000Z`) + second * 1_000;
  const fields = { visitorId: 'ann', ip: '192.0.2.0', userAgent: 'Example/1.0' };
  const records = domainIds.flatMap((domainId) =>
    Array.from({ length: count }, (_, n) => recordAt(begin + n, { domainId, ...fields })),
  );
  await persist(db, records);
  await closeOpenEpoch(db);
}

/** How many records of each month still name their visitor. */
async function named(): Promise<Record<string, number>> {
  const rows = await sql<{ month: string; records: number }>`
      select to_char(to_timestamp(milliseconds_of(id) / 1000), 'YYYY-MM') as month, count(visitor_id) as records
      from records group by 1`;
  return Object.fromEntries(rows.map(({ month, records }) => [month, records]));
}

describe('personal retention', () => {
  it('steps over what is blanked already in pages, however much that is, and blanks what lies behind it', async () => {
    let pauses = 0;
    const pause = async () => {
      pauses += 1;
    };
    const blankAll = () => blankMonth(db, '2025-03', { pause, signal, pageSize: 10 });
    await store('2025-03', 45);
    expect(await blankAll()).toBe(90);
    await store('2025-03', 3, 60);
    pauses = 0;
    expect(await blankAll()).toBe(6);
    expect(await named()).toEqual({ '2025-03': 0 });
    // 96 records are ten pages, an eleventh is empty, and each domain has one batch
    expect(pauses).toBe(13);
  });

  it('leaves the user agents of what is imported after a month was blanked, and takes them the next time', async () => {
    const userAgent = 'Rare/1.0';
    const imported = () =>
      recordAt('2024-01-10T00:00:00Z', { domainId: domainIds[0] ?? '', source: 'import', userAgent });
    const blanked = () => blankMonth(db, '2024-01', { pause: async () => {}, signal });
    const clean = async () => {
      await deleteUserAgentsOfGoneMonths(db);
      await deleteUnreferencedUserAgents(db);
      return (await sql`select from user_agents where text = ${userAgent}`).count;
    };
    await persist(db, [imported()]);
    await closeOpenEpoch(db);
    await blanked();
    // the process remembers the text, and that it was sent in this month
    await persist(db, [imported()]);
    await closeOpenEpoch(db);
    expect(await clean()).toBe(1);
    expect(await blanked()).toBe(1);
    expect(await clean()).toBe(0);
  });

  it('blanks later months where one fails, and fails at the end', async () => {
    for (const month of ['2026-03', '2026-04', '2026-05']) await store(month, 2);
    await db.run((sql) =>
      sql.begin(async (transaction) => {
        await transaction`
          create function refuse() returns trigger language plpgsql as $$ begin raise 'refused'; end $$`;
        await transaction`
          create trigger refuse before update on records_2026_04 for each row execute function refuse()`;
      }),
    );
    await expect(blankOldMonths(db, { personalRetentionMonths: 1, round: atOnce }, now, signal)).rejects.toThrow(
      'refused',
    );
    expect(await named()).toMatchObject({ '2026-03': 0, '2026-04': 4, '2026-05': 0 });
    await sql`drop trigger refuse on records_2026_04`;
    expect(await blankOldMonths(db, { personalRetentionMonths: 1, round: atOnce }, now, signal)).toMatchObject({
      records: 4,
    });
  });
});
