/** Makes a record of a row, or rejects it. */
import { createHmac, hash } from 'node:crypto';
import { isIP } from 'node:net';
import type { z } from 'zod';
import { type AddressRule, storedAddress } from '#libs/base/http/client-address';
import { idOfDigest, monthOf, timeOf } from '#libs/base/terms/calendar';
import type { FieldError } from '#libs/base/terms/problem';
import { acceptedAhead } from '#libs/base/terms/terms';
import { parseCountry, parseFullRegion } from '#libs/place/codes';
import type { NewRecord, RecordBody } from '#libs/record/contract';
import { toRecord } from '#libs/record/fields';
import { describeLeftOut, type LeftOut, labelOf } from '#libs/record/left-out';
import { checkRecord } from '#libs/record/post';
import { createRules, dropInvalid } from '#libs/record/rules';
import {
  decidingFields,
  importedFields,
  importedOwnFields,
  importedRecordFields,
  importedSince,
  type Refusal,
  rowOnlyFields,
} from './contract.ts';
import type { Row } from './rows.ts';
import type { TimeReader } from './times.ts';

export interface RecordRules {
  domainId: string;
  /** the organization's key, from which ids are made, so that nobody else can make the id of a row before its import */
  key: Uint8Array;
  /** when the import began, Unix milliseconds */
  now: number;
  ip: AddressRule;
  isPastRetention(month: string): boolean;
  /** for a file whose times are not RFC 3339 */
  times?: TimeReader | undefined;
  /** stored as the records' `requestId`, so that one that Postgres rejects can be traced to its import */
  importId: string;
}

interface Made {
  record: NewRecord;
  /** the row's id in releases before 0.2.0, which anybody could make */
  formerId?: string | undefined;
  /** fields that the row lost */
  leftOut: LeftOut[];
  refusal?: undefined;
}
export type ToRecord = (row: Row) => Made | { refusal: Refusal };

export function createToRecord(rules: RecordRules): ToRecord {
  const { domainId, key, now, ip, isPastRetention, importId, times } = rules;
  const importedAt = new Date(now).toISOString();
  /** by month, of which a file has few */
  const expired = new Map<string, boolean>();
  const isExpired = (month: string): boolean => {
    const known = expired.get(month) ?? isPastRetention(month);
    expired.set(month, known);
    return known;
  };
  return ({ given, text, refusal }) => {
    if (!given) return { refusal };
    const { body, own, leftOut, broken } = check(given, times);
    if (broken) return refuse(broken);
    leftOut.push(...nullsIn(given));
    const decidedAt = own.decidedAt === undefined ? undefined : Date.parse(own.decidedAt);
    if (body.id === undefined && decidedAt === undefined) {
      return refuse([{ path: '/decidedAt', message: 'is required where the row has no id' }]);
    }
    const time = decidedAt ?? timeOf(body.id ?? '');
    if (body.id !== undefined && timeOf(body.id) !== time) {
      return refuse([{ path: '/decidedAt', message: 'is not the time that the id carries' }]);
    }
    if (time < importedSince || time > now + acceptedAhead) return { refusal: outOfRange(time) };
    let receivedAt = own.receivedAt === undefined ? now : Date.parse(own.receivedAt);
    if (receivedAt < importedSince || receivedAt > now + acceptedAhead) {
      leftOut.push(describeLeftOut('receivedAt', 'must be between 2018-05-25 and now', own.receivedAt));
      receivedAt = now;
    }
    const month = monthOf(time);
    if (isExpired(month)) {
      return { refusal: { code: 'past_retention', detail: `the records of ${month} are past their retention` } };
    }
    const identity = JSON.stringify([domainId, ...identityOf(own.externalId, text)]);
    const formerId = body.id === undefined ? idOfDigest(time, hash('sha256', identity, 'hex')) : undefined;
    return {
      formerId,
      leftOut,
      record: toRecord(body, {
        id: body.id?.toLowerCase() ?? idOfDigest(time, createHmac('sha256', key).update(identity).digest('hex')),
        domainId,
        receivedAt: new Date(receivedAt).toISOString(),
        source: 'import',
        country: own.country === undefined ? undefined : parseCountry(own.country),
        region: own.region === undefined ? undefined : parseFullRegion(own.region),
        ip: own.ip === undefined ? undefined : addressOf(own.ip, ip),
        userAgent: own.userAgent === undefined ? undefined : cut(own.userAgent),
        gpc: body.gpc,
        bot: own.bot,
        importedAt,
        requestId: importId,
      }),
    };
  };
}

type Own = z.infer<typeof rowOnlyFields>;

type Checked =
  | { body: RecordBody; own: Own; leftOut: LeftOut[]; broken?: undefined }
  | { broken: FieldError[]; body?: never; own?: never; leftOut?: never };

const rules = createRules(rowOnlyFields);

function check(given: Record<string, unknown>, times: TimeReader | undefined): Checked {
  const record = checkRecord(pick(given, importedRecordFields));
  const picked = pick(given, importedOwnFields);
  const ofTimes = times ? readTimes(picked, times) : { leftOut: [], broken: [] };
  const valid = rules.parse(picked);
  const { kept, leftOut } = valid
    ? { kept: picked, leftOut: [] }
    : dropInvalid(picked, rules, { decides: decidingFields });
  const own = valid ?? rules.parse(kept);
  if (record.body && own && ofTimes.broken.length === 0)
    return { body: record.body, own, leftOut: [...record.leftOut, ...ofTimes.leftOut, ...leftOut] };
  return { broken: [...(record.broken ?? []), ...ofTimes.broken, ...(own ? [] : rules.broken(kept))] };
}

/** Replaces times by RFC 3339. An unreadable `decidedAt` rejects the row; an unreadable `receivedAt` is left out. */
function readTimes(picked: Record<string, unknown>, times: TimeReader): { leftOut: LeftOut[]; broken: FieldError[] } {
  const read = (field: string) => {
    const sent = picked[field];
    if (sent === undefined) return true;
    picked[field] = times.read(sent);
    return picked[field] !== undefined;
  };
  const { decidedAt, receivedAt } = picked;
  return {
    broken: read('decidedAt') ? [] : [{ path: '/decidedAt', message: times.problem(decidedAt) }],
    leftOut: read('receivedAt') ? [] : [describeLeftOut('receivedAt', times.problem(receivedAt), receivedAt)],
  };
}

const nullsIn = (given: Record<string, unknown>): LeftOut[] =>
  Object.keys(given)
    .filter((field) => given[field] === undefined && labelOf(field, importedFields) !== 'unknown')
    .map((field) => describeLeftOut(field, 'stands for null', ''));

/** Picks these fields. Null counts as absent, because that is how our own exports write absent fields. */
function pick(given: Record<string, unknown>, fields: readonly string[]): Record<string, unknown> {
  const picked: Record<string, unknown> = {};
  for (const field of fields) {
    const value = given[field];
    if (value !== null && value !== undefined) picked[field] = value;
  }
  return picked;
}

const refuse = (broken: FieldError[]): { refusal: Refusal } => ({
  refusal: {
    code: 'invalid_request',
    // only the first problem of each field, and the first few fields
    detail: [...new Map([...broken].reverse().map((each) => [each.path, each])).values()]
      .reverse()
      .slice(0, 5)
      .map(({ path, message }) => `${path} ${message}`)
      .join('; ')
      .slice(0, 500),
  },
});

const outOfRange = (time: number): Refusal => ({
  code: 'time_out_of_range',
  detail: `${new Date(time).toISOString()} is not between 2018-05-25 and now`,
});

/** With the same time, the same row or the same `externalId` is the same record of a domain. */
const identityOf = (externalId: string | number | undefined, text: string): [string, string] =>
  externalId === undefined ? ['row', text] : ['externalId', String(externalId)];

function addressOf(given: string, rule: AddressRule): string | undefined {
  if (isIP(given)) return storedAddress(given, rule);
  return rule.mode === 'none' ? undefined : given;
}

/** Cuts it to 512 characters, as `post.ts` does, and never in the middle of a surrogate pair. */
const cut = (userAgent: string): string | undefined =>
  userAgent.slice(0, 512).replace(/[\ud800-\udbff]$/, '') || undefined;
