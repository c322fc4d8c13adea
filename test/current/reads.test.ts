import { beforeAll, expect, it } from 'vitest';
import { createNewestReader } from '#libs/current/newest';
import { persist } from '#libs/record/persist/persist';
import { recordAt } from '../support/records.ts';
import { at } from '../support/stack.ts';
import { makeTenant, openDatabase } from '../support/stores.ts';
import { rowsRead } from '../support/transaction.ts';

const { db, sql } = await openDatabase();
const { organizationId, domainIds } = await makeTenant(db);
const domainId = at(domainIds, 0);
const nobodyErased = async () => [];
const read = async (visitorId: string, inside = db) => {
  const [found] = await createNewestReader(inside, nobodyErased).read(organizationId, domainId, [visitorId]);
  return found?.id ?? null;
};
const now = Date.parse('2026-06-15T12:00:00Z');

/** Records of a domain that is not there, so that they share the visitor's hash, mixed with the domain's number, as chosen ids would. */
const collide = (visitorId: string, count: number, from: number) => sql`
  insert into records (domain_number, id, received_at, epoch, decision, source, bot, visitor_id)
  select hashtext('other') # hashtext(${visitorId}) # number,
    overlay(gen_random_uuid()::text placing left(id_at(moment)::text, 13) from 1 for 13)::uuid, moment, 1, 'custom',
    'banner', false, 'other'
  from domains, generate_series(1, ${count}) as n
  cross join lateral (select to_timestamp(${from / 1_000}::float8 + n / 100.0) as moment) as m
  where domains.id = ${domainId}`;

beforeAll(async () => {
  for (let month = 1; month <= 12; month += 1)
    await sql`select make_record_month(${`2026-${String(month).padStart(2, '0')}`})`;
});

it('the record received later holds, whichever clock was five minutes ahead', async () => {
  const ahead = 299_000;
  const of = (visitorId: string, receivedAt: number, clock: number, decision: 'accept_all' | 'reject_all') => ({
    ...recordAt(receivedAt + clock, { domainId, visitorId, decision }),
    receivedAt: new Date(receivedAt).toISOString(),
  });
  const records = [
    of('refused', now, ahead, 'accept_all'),
    of('refused', now + 2_000, 0, 'reject_all'),
    of('accepted', now, ahead, 'reject_all'),
    of('accepted', now + 2_000, 0, 'accept_all'),
  ];
  await persist(db, records);
  expect([await read('refused'), await read('accepted')]).toEqual([records[1]?.id, records[3]?.id]);
});

it('few rows are read, also of an id that very many records have, and where very many ids share its hash', async () => {
  const own = recordAt(now, { domainId, visitorId: 'own' });
  await persist(db, [own]);
  await sql`
    insert into records (domain_number, id, received_at, epoch, decision, source, bot, visitor_id)
    select number, overlay(gen_random_uuid()::text placing left(id_at(moment)::text, 13) from 1 for 13)::uuid, moment, 1,
      'custom', 'banner', false, 'busy'
    from domains, generate_series(1, 50000) as n
    cross join lateral (select to_timestamp(${now / 1_000}::float8 + n) as moment) as m
    where domains.id = ${domainId}`;
  await collide('own', 900, now + 1_000);
  await sql`analyze records`;
  expect(await read('own')).toBe(own.id);
  expect(await rowsRead(db, (inside) => read('busy', inside))).toBeLessThan(100);
  expect(await rowsRead(db, (inside) => read('own', inside))).toBeLessThan(2_100);
  await collide('own', 50_000, now + 1_000_000);
  // with more of them no record is found, so nothing is allowed
  expect(await read('own')).toBeNull();
  expect(await rowsRead(db, (inside) => read('own', inside))).toBeLessThan(2_100);
});
