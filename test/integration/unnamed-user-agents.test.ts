import { expect, it } from 'vitest';
import { eraseVisitor } from '#libs/store/privacy/erasures';
import { createVisitorHash } from '#libs/store/privacy/visitor-hash';
import { persist } from '#libs/store/records/persist';
import { deleteUnnamedUserAgents } from '#libs/store/user-agents/unnamed';
import { recordAt } from '../support/records.ts';
import { privacyKey } from '../support/settings.ts';
import { at } from '../support/stack.ts';
import { makeTenant, openDatabase } from '../support/stores.ts';
import { eventually } from '../support/wait.ts';

it('a text whose last record is blanked while it is looked for goes with the next look', async () => {
  const { db } = await openDatabase();
  const { organizationId, domainIds } = await makeTenant(db);
  const visitorId = 'v';
  const hash = createVisitorHash(Buffer.from(privacyKey, 'hex'))(organizationId, visitorId);
  await persist(db, [recordAt(Date.now(), { domainId: at(domainIds, 0), visitorId, userAgent: 'Only theirs/1.0' })]);
  const texts = () => db.run((sql) => sql`select text from user_agents`);
  // as by an erased record before it
  await db.run((sql) => sql`insert into user_agents_to_look_for (number) select number from user_agents`);
  let looking: Promise<number> | undefined;
  await db.run((sql) =>
    sql.begin(async (transaction) => {
      // holds up the end of a look, which has found the record by then
      await transaction`select pg_advisory_xact_lock(hashtext('assent.epoch'))`;
      looking = deleteUnnamedUserAgents(db);
      await eventually(async () => {
        const waiting = await db.run((sql) => sql`select from pg_locks where locktype = 'advisory' and not granted`);
        expect(waiting.count).toBe(1);
      });
      await eraseVisitor(db, { organizationId, visitorId, hash, actor: 'test' });
    }),
  );
  await looking;
  expect(await texts()).toHaveLength(1);
  await deleteUnnamedUserAgents(db);
  expect(await texts()).toEqual([]);
});
