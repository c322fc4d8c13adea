/**
 * The numbers of user agents and notices. A process remembers the ones it has met, so most records need only a lookup in
 * memory. New ones are added before the batch is stored. The key of a page is public and anyone may make up texts, so new
 * texts are limited per domain and day: beyond the limit a record refers to the text's family. `name_notices` marks a
 * notice's row as in use before the batch is stored, and such a row is not deleted as unused. So a remembered number always
 * has its row; at worst a failed batch leaves a row that no record refers to.
 */

import type { Database } from '#libs/base/db/database';
import { monthOf, timeOf } from '#libs/base/terms/calendar';
import type { NewRecord } from '../contract.ts';
import { describeUserAgent, familyOf, type UserAgentTraits } from './user-agent.ts';

export interface UserAgent {
  number: number;
  crawler: boolean;
  /** this process added it, and has not yet stored a record with it */
  isNew?: boolean;
}

/** How many new texts a domain may add per UTC day. */
export const newTextsBound = 1_000;
/** How many texts, and how many hashes, a process remembers. Beyond that it forgets them all and reads them again. */
const remembered = 40_000;
/** Once a domain has used up its bound, all texts are loaded, unless there are this many or more. */
const loaded = 20_000;
/**
 * Milliseconds for which such a domain adds no more. Then Postgres is asked again, so this process need not know when its
 * day ends.
 */
const fullFor = 600_000;

/** Either texts as they were sent, or families. */
interface Kind {
  isFamily: boolean;
  nameOf(userAgent: string): string;
  describe(userAgent: string): UserAgentTraits;
}
const texts: Kind = { isFamily: false, nameOf: (userAgent) => userAgent, describe: describeUserAgent };
const families: Kind = { isFamily: true, nameOf: (userAgent) => familyOf(userAgent).text, describe: familyOf };

/** By text. `months`: the months already noted for it in `user_agent_months`. */
type Known = Map<string, UserAgent & { months: string[] }>;

/** Milliseconds until a process forgets its texts, since an erasure deletes texts that only its visitor sent. */
const rememberedFor = 600_000;

export type Numbers = (number | undefined)[];

/** Numbers by hash, by domain. */
interface Notices {
  known: Map<string, Map<string, number>>;
  size: number;
}

/** Times are of the monotonic clock. */
interface Memory {
  generation: number;
  until: number;
  texts: Known;
  families: Known;
  /** domains that have used up their bound, with the time until which they are not asked again */
  full: Map<string, number>;
  /** Until this time, a text that is not in `texts` is not looked up for a domain that has used up its bound. */
  completeUntil: number;
  notices: Notices;
}

/** A text that a domain sent, and that is unknown or not yet noted for these months. */
interface Wanted {
  text: string;
  months: string[];
  userAgent: string;
  domainId: string;
}

/** In the order of the records; undefined where one has no text. */
export async function userAgentsOf(db: Database, records: NewRecord[]): Promise<(UserAgent | undefined)[]> {
  const memory = memoryOf(db);
  const knownOf = ({ id, userAgent }: NewRecord) => {
    const known = userAgent === undefined ? undefined : memory.texts.get(userAgent);
    return known?.months.includes(monthOfId(id)) ? known : undefined;
  };
  const found: (UserAgent | undefined)[] = records.map(knownOf);
  const unknown = records.filter(({ userAgent }, at) => userAgent !== undefined && !found[at]);
  if (unknown.length === 0) return found;
  // under a flood Postgres is not asked for texts that it cannot have
  const now = performance.now();
  const isHopeful = ({ domainId, userAgent = '' }: NewRecord) =>
    now > memory.completeUntil || !isFull(memory, domainId) || memory.texts.has(userAgent);
  await learn(db, memory, texts, unknown.filter(isHopeful));
  const isStillUnknown = (record: NewRecord) => !knownOf(record);
  await learn(db, memory, families, unknown.filter(isStillUnknown));
  return records.map((record, at) => {
    const { userAgent } = record;
    if (found[at] || userAgent === undefined) return found[at];
    return knownOf(record) ?? memory.families.get(families.nameOf(userAgent));
  });
}

/** In the order of the records; undefined where one names no notice, or its domain does not exist. */
export async function noticeNumbersOf(db: Database, records: NewRecord[], most = remembered): Promise<Numbers> {
  const memory = memoryOf(db);
  if (memory.notices.size > most) memory.notices = noNotices();
  const { notices } = memory;
  const numberOf = ({ domainId, notice }: NewRecord) =>
    notice === undefined ? undefined : notices.known.get(domainId)?.get(notice);
  const found = records.map(numberOf);
  const unknown = records.filter(({ notice }, at) => notice !== undefined && found[at] === undefined);
  if (unknown.length === 0) return found;
  await nameNotices(db, notices, unknown);
  return records.map(numberOf);
}

const noNotices = (): Notices => ({ known: new Map(), size: 0 });

/** Finds the notices of these records, marks them as in use, and adds those that are missing. */
async function nameNotices(db: Database, notices: Notices, records: NewRecord[]): Promise<void> {
  const wanted = new Map(records.map(({ domainId, notice }) => [`${domainId} ${notice}`, { domainId, notice }]));
  const list = JSON.stringify([...wanted.values()]);
  const rows = await db.write(
    (sql) => sql<{ domainId: string; notice: string; number: number }[]>`
      select domain_id as "domainId", notice, number from name_notices(${list}::text::json)`,
  );
  for (const { domainId, notice, number } of rows) {
    const ofDomain = notices.known.get(domainId) ?? new Map<string, number>();
    notices.known.set(domainId, ofDomain);
    if (!ofDomain.has(notice)) notices.size += 1;
    ofDomain.set(notice, number);
  }
}

const memories = new WeakMap<Database, Memory>();

/** After a lost connection the database may be another one, restored or promoted, with other numbers. */
function memoryOf(db: Database): Memory {
  const existing = memories.get(db);
  const now = performance.now();
  const ofServer = existing?.generation === db.generation() ? existing : undefined;
  if (ofServer && now < ofServer.until && ofServer.texts.size <= remembered) return ofServer;
  const memory: Memory = {
    generation: db.generation(),
    until: now + rememberedFor,
    texts: new Map(),
    families: new Map(),
    full: new Map(),
    completeUntil: 0,
    notices: ofServer?.notices ?? noNotices(),
  };
  memories.set(db, memory);
  return memory;
}

/** The ones in `found` that are still new, as `isNew` says. */
export const newOf = (found: (UserAgent | undefined)[]): UserAgent[] =>
  [...new Set(found)].filter((each) => each !== undefined).filter(({ isNew }) => isNew === true);

const isFull = (memory: Memory, domainId: string): boolean => (memory.full.get(domainId) ?? 0) > performance.now();

async function learn(db: Database, memory: Memory, kind: Kind, records: NewRecord[]): Promise<void> {
  const { isFamily } = kind;
  const known = isFamily ? memory.families : memory.texts;
  const wanted = listUnknown(kind, known, records);
  if (wanted.length === 0) return;
  await find(db, kind, known, wanted);
  const now = performance.now();
  const lacking = wanted.filter(({ text, domainId }) => !known.has(text) && (isFamily || !isFull(memory, domainId)));
  if (lacking.length === 0) return;
  const traits = new Map(lacking.map(({ text, userAgent }) => [text, kind.describe(userAgent)]));
  const looked = lacking.map(({ userAgent, ...each }) => ({ ...traits.get(each.text), isFamily, ...each }));
  const full = await db.write(
    (sql) => sql<{ domainId: string }[]>`
      select add_user_agents(${JSON.stringify(looked)}::text::json, ${newTextsBound}) as "domainId"`,
  );
  for (const { domainId } of full) memory.full.set(domainId, now + fullFor);
  await find(db, kind, known, lacking);
  for (const { text } of lacking) {
    const added = known.get(text);
    if (added) added.isNew = true;
  }
  if (full.length > 0 && now > memory.completeUntil) await complete(db, memory);
}

/** Reads all texts, unless there are too many, so that a flood's texts need not be looked up one by one. */
async function complete(db: Database, memory: Memory): Promise<void> {
  const newest = await db.read(
    (sql) => sql<(UserAgent & { text: string })[]>`
      select number, text, crawler from user_agents where not is_family order by number desc limit ${loaded}`,
  );
  if (newest.length === loaded) return;
  for (const { text, number, crawler } of newest) {
    if (!memory.texts.has(text)) memory.texts.set(text, { number, crawler, months: [] });
  }
  memory.completeUntil = performance.now() + fullFor;
}

/** One for each text and domain. */
function listUnknown({ nameOf }: Kind, known: Known, records: NewRecord[]): Wanted[] {
  const unknown = new Map<string, Wanted>();
  for (const { id, domainId, userAgent } of records) {
    if (userAgent === undefined) continue;
    const text = nameOf(userAgent);
    const month = monthOfId(id);
    if (known.get(text)?.months.includes(month)) continue;
    const key = `${domainId} ${text}`;
    const wanted = unknown.get(key);
    if (!wanted) unknown.set(key, { text, months: [month], userAgent, domainId });
    else if (!wanted.months.includes(month)) wanted.months.push(month);
  }
  return [...unknown.values()];
}

/** Looks the texts up and notes their months, except dropped ones: those have no records, and late ones are refused. */
async function find(db: Database, { isFamily }: Kind, known: Known, wanted: Wanted[]): Promise<void> {
  const months = new Map<string, Set<string>>();
  for (const each of wanted) months.set(each.text, new Set([...(months.get(each.text) ?? []), ...each.months]));
  const before = new Map([...months.keys()].map((text) => [text, known.get(text)]));
  const list = JSON.stringify([...months].map(([text, each]) => ({ text, months: [...each] })));
  const rows = await db.write(
    (sql) => sql<(UserAgent & { text: string })[]>`
      with found as materialized (
        select a.text, months, number, crawler
        from json_to_recordset(${list}::text::json) as wanted (text text, months json)
        join user_agents a on a.text = wanted.text and is_family = ${isFamily}
        -- one that is about to go is passed over
        for key share of a
      ),
      noted as (
        insert into user_agent_months (number, month)
        select number, month from found cross join json_array_elements_text(months) as month
        where month not in (select month from record_months where dropped_at is not null)
        order by 1, 2
        on conflict do nothing
      )
      select text, number, crawler from found`,
  );
  const there = new Map(rows.map((each) => [each.text, each]));
  for (const [text, noted] of months) {
    const found = there.get(text);
    const current = known.get(text);
    if (found) {
      const { number, crawler } = found;
      const same = current?.number === number ? current : undefined;
      known.set(text, { number, crawler, isNew: same?.isNew === true, months: [...(same?.months ?? []), ...noted] });
    } else if (current === before.get(text)) {
      // otherwise another batch has added it meanwhile
      known.delete(text);
    }
  }
}

let last = { from: 0, below: 0, month: '' };
/** Most records of a batch are of one month, and formatting it takes as long as everything else here. */
function monthOfId(id: string): string {
  const time = timeOf(id);
  if (time < last.from || time >= last.below) {
    const date = new Date(time);
    const [from, below] = [0, 1].map((later) => Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + later));
    last = { from: from ?? 0, below: below ?? 0, month: monthOf(time) };
  }
  return last.month;
}
