import { expect, it } from 'vitest';
import { createPieceSize } from '#libs/epochs/piece-size';
import { eraseVisitor } from '#libs/privacy/erasures';
import { persist } from '#libs/record/persist/persist';
import { deleteUnreferencedUserAgents } from '#libs/record/user-agent-deletion';
import { createVisitorHash } from '#libs/tenants/visitors';
import { recordAt } from '../support/records.ts';
import { closeOpenEpoch } from '../support/sealing.ts';
import { privacyKey } from '../support/settings.ts';
import { at } from '../support/stack.ts';
import { connectDatabase, makeTenant, openDatabase } from '../support/stores.ts';
import { inTransaction } from '../support/transaction.ts';
import { eventually } from '../support/wait.ts';

it('a text whose last record is blanked while it is looked for goes with the next look', async () => {
  const { db } = await openDatabase();
  const { organizationId, domainIds } = await makeTenant(db);
  const visitorId = 'v';
  const hash = createVisitorHash(Buffer.from(privacyKey, 'hex'))(organizationId, visitorId);
  await persist(db, [recordAt(Date.now(), { domainId: at(domainIds, 0), visitorId, userAgent: 'Only theirs/1.0' })]);
  const texts = () => db.run((sql) => sql`select text from user_agents where not is_family`);
  // as by an erased record before it
  await db.run((sql) => sql`insert into user_agents_to_look_for (number) select number from user_agents`);
  let looking: Promise<number> | undefined;
  await db.run((sql) =>
    sql.begin(async (transaction) => {
      await transaction`select from user_agents_to_look_for for update`;
      looking = deleteUnreferencedUserAgents(db);
      // it has found the record, and is about to take the note away
      await eventually(async () => {
        const waiting = await db.run(
          (sql) => sql`
            select from pg_locks join pg_stat_activity using (pid)
            where datname = current_database() and locktype = 'transactionid' and not granted`,
        );
        expect(waiting.count).toBe(1);
      });
      await eraseVisitor(inTransaction(db, transaction), { organizationId, visitorId, hash, actor: 'test' });
    }),
  );
  await looking;
  await deleteUnreferencedUserAgents(db);
  expect(await texts()).toEqual([]);
});

it('a text that nobody names is looked for some records a round, by whichever process, and only where it was sent', async () => {
  const { url, db } = await openDatabase();
  const { domainIds } = await makeTenant(db);
  const domainId = at(domainIds, 0);
  const others = (month: string, count: number) =>
    Array.from({ length: count }, (_, n) => recordAt(Date.parse(`${month}-05T00:00:00Z`) + n, { domainId }));
  const first = ['Only theirs/1.0', 'Another/1.0'].map((userAgent) =>
    recordAt('2026-04-04T00:00:00Z', { domainId, userAgent }),
  );
  // what is far more was never sent with it
  await persist(db, [...others('2026-03', 500), ...others('2026-04', 24), ...first]);
  await closeOpenEpoch(db);
  const note = (userAgent: string, at: string) =>
    db.run(
      (sql) => sql`
        insert into user_agents_to_look_for (number, noted_at)
        select number, ${at} from user_agents where text = ${userAgent}`,
    );
  await note('Only theirs/1.0', '2026-05-05T00:00:00Z');
  await db.run((sql) => sql`update records set user_agent_number = null where id = ${at(first, 0).id}`);
  const size = createPieceSize(10);
  const rounds: number[] = [];
  while (rounds.at(-1) !== 1 && rounds.length < 20) {
    rounds.push(await deleteUnreferencedUserAgents(connectDatabase(url).db, { size, pieces: 1 }));
    // a note that was committed late: the record that names it lies behind
    if (rounds.length === 2) await note('Another/1.0', '2026-05-04T00:00:00Z');
  }
  // three pieces of its month and one behind its end, and the end
  expect(rounds).toEqual([0, 0, 0, 0, 1]);
  while ((await deleteUnreferencedUserAgents(db)) > 0);
  expect(await db.run((sql) => sql`select text from user_agents`)).toEqual([{ text: 'Another/1.0' }]);
  expect(await db.run((sql) => sql`select from user_agents_to_look_for`)).toEqual([]);
});
