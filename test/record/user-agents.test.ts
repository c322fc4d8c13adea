import { describe, expect, it } from 'vitest';
import type { Database } from '#libs/base/db/database';
import { readPage } from '#libs/log/domain-page';
import type { NewRecord } from '#libs/record/contract';
import { dropMonth } from '#libs/record/month-partitions';
import { persist } from '#libs/record/persist/persist';
import { newTextsBound } from '#libs/record/persist/reference-numbers';
import { deleteUnreferencedUserAgents, deleteUserAgentsOfGoneMonths } from '#libs/record/user-agent-deletion';
import { createAdministration } from '#libs/tenants/administration';
import { withClocksAhead } from '../support/clock.ts';
import { through } from '../support/pool.ts';
import { recordAt } from '../support/records.ts';
import { at } from '../support/stack.ts';
import { connectDatabase, makeTenant, openDatabase } from '../support/stores.ts';

let organizationId: string;
let domainId: string;

const { url, db } = await openDatabase();

/** As a process that was started now. */
const anotherProcess = (): Database => connectDatabase(url).db;
const newDomain = async () => {
  const tenant = await makeTenant(db);
  organizationId = tenant.organizationId;
  domainId = at(tenant.domainIds, 0);
};
const record = (userAgent: string, fields: Partial<NewRecord> = {}) =>
  recordAt('2026-10-10T10:00:00.000Z', { domainId, userAgent, ...fields });
const shown = async () => {
  const { records } = await db.run((sql) => readPage(sql, { organizationId, domainId, limit: 200, offset: 0 }));
  return new Map(records.map(({ id, userAgent, bot }) => [id, { userAgent, bot }]));
};
const kept = () =>
  db.run(
    (sql) => sql<{ text: string; is_family: boolean; crawler: boolean }[]>`
      select text, is_family, crawler, device, browser, system from user_agents
      where domain_number = (select number from domains where id = ${domainId}) order by text`,
  );
/** As if so many others had been sent today. */
const fill = (count: number) =>
  db.run(
    (sql) => sql`
      insert into user_agents (domain_number, added_on, is_family, crawler, text)
      select number, (clock_timestamp() at time zone 'UTC')::date, false, false, id || n
      from domains, generate_series(1, ${count}::int) as n
      where id = ${domainId}`,
  );
const numbersOf = (text: string) =>
  db.run(async (sql) => {
    const rows = await sql<{ number: number }[]>`select number from user_agents where text = ${text}`;
    return rows.map(({ number }) => number);
  });
/** What an erasure leaves of a record. */
const blank = ({ id }: NewRecord) => db.run((sql) => sql`update records set user_agent_number = null where id = ${id}`);
const browser = (version: number | string) =>
  `Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${version} Safari/537.36`;
const desktop = { device: 'desktop', browser: 'Chrome', system: 'Windows' };

describe('user agents', () => {
  it('are one row each, with what a look told, whichever processes meet them', async () => {
    await newDomain();
    const texts = [browser(141), 'Googlebot/2.1 (+http://www.google.com/bot.html)', 'käse/1.0 \u{1F9C0}', ''];
    const records = texts.flatMap((text) => [record(text), record(text)]);
    await Promise.all([db, anotherProcess(), anotherProcess()].map((each) => persist(each, records)));
    await persist(db, [record(browser(141))]);
    expect(await kept()).toEqual([
      expect.objectContaining({ text: '', browser: null }),
      expect.objectContaining({ text: texts[1], crawler: true, browser: 'Googlebot' }),
      { text: browser(141), is_family: false, crawler: false, ...desktop },
      expect.objectContaining({ text: texts[2], browser: null, system: null }),
    ]);
    const found = await shown();
    for (const { id, userAgent } of records) {
      expect(found.get(id)).toEqual({ userAgent, bot: userAgent === texts[1] });
    }
  });

  it('that one batch looked for in vain are not forgotten where another has added them meanwhile', async () => {
    await newDomain();
    await fill(newTextsBound - 1);
    const [one, other, beyond] = [record(browser('shared')), record(browser('shared')), record(browser('beyond'))];
    let asked = 0;
    /** the answer to its first statement takes until others have ended */
    const process = through(db, async (ask) => {
      asked += 1;
      const isFirst = asked === 1;
      const result = await ask(db);
      if (isFirst) for (const each of [other, beyond]) await persist(process, [each]);
      return result;
    });
    await persist(process, [one]);
    const found = await shown();
    expect([one, other, beyond].map(({ id }) => found.get(id)?.userAgent)).toEqual([
      browser('shared'),
      browser('shared'),
      'family: Chrome, Windows, desktop',
    ]);
  });

  it('have the numbers of the server that stores them, also where it takes the place of another on the way', async () => {
    await newDomain();
    const { db: promoted } = await openDatabase();
    const tenant = await makeTenant(promoted);
    const admin = createAdministration(promoted, 'test');
    await admin.createDomain(tenant.organizationId, { domainId, name: 'a', origins: [] });
    await persist(promoted, [record(browser('of the promoted one alone'))]);
    let generation = 0;
    /** leads to the other one as soon as it has answered */
    const moved = through(db, async (ask) => {
      const result = await ask(generation === 0 ? db : promoted);
      generation = 1;
      return result;
    });
    const process = { ...moved, generation: () => generation };
    const one = record(browser(141), { notice: 'ab'.repeat(32) });
    await persist(process, [one]);
    const [stored] = await promoted.run(
      (sql) => sql`
        select text, encode(hash, 'hex') as notice from records r
        join user_agents on user_agents.number = user_agent_number join notices on notices.number = notice_number
        where r.id = ${one.id}`,
    );
    expect(stored).toEqual({ text: browser(141), notice: one.notice });
  });

  it('are bounded by domain and day: past the bound a record has a family that says so, known ones go on', async () => {
    await newDomain();
    await persist(db, [record(browser(1))]);
    const flood = Array.from({ length: 3 * newTextsBound }, (_, index) => record(browser(`made-up.${index}`)));
    const processes = [db, anotherProcess(), anotherProcess()];
    await Promise.all(processes.map((each) => persist(each, flood.splice(0, newTextsBound))));
    expect(await kept()).toHaveLength(newTextsBound);
    const family = { text: 'family: Chrome, Windows, desktop', crawler: false, ...desktop };
    expect(
      await db.run(
        (sql) => sql<object[]>`select text, crawler, device, browser, system from user_agents where is_family`,
      ),
    ).toEqual([family]);
    const headless = browser(1).replace('Chrome', 'HeadlessChrome');
    const cubot = 'Mozilla/5.0 (Linux; Android 13; CUBOT_P80) AppleWebKit/537.36 Chrome/119.0.0.0 Mobile Safari/537.36';
    // newer than those, so that they are shown
    const made = [browser('new'), browser(1), headless, '???', cubot].map((userAgent) =>
      recordAt('2026-10-11T10:00:00.000Z', { domainId, userAgent }),
    );
    const process = anotherProcess();
    // once to learn that the domain is full, once more knowing it
    for (const each of made) await persist(process, [each]);
    const found = await shown();
    expect(made.map(({ id }) => found.get(id))).toEqual([
      { userAgent: family.text, bot: false },
      { userAgent: browser(1), bot: false },
      { userAgent: 'family: crawler, Chrome, Windows, desktop', bot: true },
      { userAgent: 'family: crawler', bot: true },
      { userAgent: 'family: Chrome, Android, mobile', bot: false },
    ]);
    // one that calls itself a family is not taken for one, and another domain has its own bound
    const [impostor, other] = [record(family.text), await makeTenant(db)];
    await persist(db, [{ ...impostor, domainId: at(other.domainIds, 0) }]);
    domainId = at(other.domainIds, 0);
    expect(await kept()).toEqual([expect.objectContaining({ text: family.text, is_family: false })]);
  });

  it('of one domain that is full, or gone, are no matter of another one in the same batch', async () => {
    const [full, other] = await Promise.all([makeTenant(db), makeTenant(db)]);
    domainId = at(full.domainIds, 0);
    const flood = Array.from({ length: newTextsBound + 1 }, (_, index) => record(`${domainId} ${index}`));
    const process = anotherProcess();
    for (let from = 0; from < flood.length; from += 500) await persist(process, flood.slice(from, from + 500));
    const shared = ['first', 'second'].map((word) => `${domainId} ${word}`);
    const own = [record(at(shared, 0)), { ...record(at(shared, 1)), domainId: 'gone' }];
    const text = `${domainId} later`;
    [organizationId, domainId] = [other.organizationId, at(other.domainIds, 0)];
    const theirs = shared.map((each) => record(each));
    await persist(process, [...own, ...theirs], { isPartial: true });
    const later = record(text);
    await persist(process, [later]);
    const found = await shown();
    for (const { id, userAgent } of [...theirs, later]) expect(found.get(id)?.userAgent).toBe(userAgent);
  });

  it('that are known are found in a full domain too where they are more than a process reads at once', async () => {
    await newDomain();
    await persist(db, [record(browser('old'))]);
    await fill(20_000);
    const process = anotherProcess();
    for (const userAgent of ['unheard of', browser('old')]) {
      const made = record(userAgent);
      await persist(process, [made]);
      const seen = (await shown()).get(made.id)?.userAgent;
      expect(seen).toBe(userAgent === 'unheard of' ? 'family: crawler' : userAgent);
    }
  });

  it('go with the last month that names them, and come back under another number', async () => {
    await newDomain();
    const [april, may] = ['2026-04-10T10:00:00.000Z', '2026-05-10T10:00:00.000Z'];
    const both = recordAt(may, { domainId, userAgent: `${domainId} both` });
    await persist(db, [
      recordAt(april, { domainId, userAgent: `${domainId} april` }),
      recordAt(april, { domainId, userAgent: `${domainId} both` }),
      both,
    ]);
    const texts = async () => (await kept()).map(({ text }) => text.split(' ')[1]);
    await deleteUserAgentsOfGoneMonths(db);
    expect(await texts()).toEqual(['april', 'both']);
    await db.run((sql) => dropMonth(sql, '2026-04'));
    await deleteUserAgentsOfGoneMonths(db);
    expect(await texts()).toEqual(['both']);
    // the process still remembers the number that is gone
    const again = recordAt(may, { domainId, userAgent: `${domainId} april` });
    await persist(db, [again]);
    const found = await shown();
    expect([again, both].map(({ id }) => found.get(id)?.userAgent)).toEqual([again.userAgent, both.userAgent]);
    await db.run((sql) => dropMonth(sql, '2026-05'));
    await deleteUserAgentsOfGoneMonths(db);
    expect(await texts()).toEqual([]);
  });

  it('of an erased visitor do not stay where their record is sent again', async () => {
    await newDomain();
    const userAgent = `Erased/${domainId}`;
    const erased = recordAt(Date.now(), { domainId, userAgent });
    await persist(db, [erased]);
    await blank(erased);
    await db.run(
      (sql) =>
        sql`insert into user_agents_to_look_for (number) select number from user_agents where text = ${userAgent}`,
    );
    await deleteUnreferencedUserAgents(db);
    expect(await numbersOf(userAgent)).toEqual([]);

    const other = anotherProcess();
    await persist(other, [erased, recordAt(Date.now(), { domainId })]);
    expect(await numbersOf(userAgent)).toHaveLength(1);
    await deleteUnreferencedUserAgents(db);
    expect(await numbersOf(userAgent)).toEqual([]);

    // of somebody else it stays, and is not even looked for
    const others = recordAt(Date.now(), { domainId, userAgent });
    await persist(anotherProcess(), [erased, others, recordAt(Date.now(), { domainId, userAgent: `New/${domainId}` })]);
    expect(await db.run((sql) => sql`select number from user_agents_to_look_for`)).toEqual([]);
    expect(await numbersOf(userAgent)).toHaveLength(1);
  });

  it('are remembered for minutes, also where the clock was 400 days ahead when they were met', async () => {
    await newDomain();
    const process = anotherProcess();
    const [first, second] = [record(`Step/${domainId}`), record(`Step/${domainId}`)];
    await withClocksAhead({ own: 400 * 86_400_000 }, () => persist(process, [first]));
    await blank(first);
    const [own = 0] = await numbersOf(`Step/${domainId}`);
    for (const table of ['user_agent_months', 'user_agents'])
      await db.run((sql) => sql`delete from ${sql(table)} where number = ${own}`);
    await withClocksAhead({ monotonic: 11 * 60_000 }, () => persist(process, [second]));
    expect((await shown()).get(second.id)?.userAgent).toBe(second.userAgent);
  });
});
