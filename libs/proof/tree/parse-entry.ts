/**
 * Reads an entry and what its commitments are opened with. Only the very text that the log would write is accepted:
 * a key twice, or one that nobody knows, could mean one thing to this reader and another to the next.
 */
import {
  type Circumstances,
  type Commitments,
  circumstancesText,
  circumstanceTexts,
  type EntryFields,
  type ErasureEntry,
  erasureEntry,
  type NoticeEntry,
  noticeEntry,
  type PrivateFields,
  privateText,
  recordEntry,
} from './entry.ts';
import { type Fields, maybeFlag, maybeMap, maybeText, parseObject, textIn } from './fields.ts';
import { ProofError } from './proof-error.ts';

export type Entry =
  | ({ type: 'record' } & EntryFields & { commitments: Commitments })
  | ({ type: 'notice' } & NoticeEntry)
  | ({ type: 'erasure' } & ErasureEntry);

/** Throws a ProofError that says what is wrong with it. */
export function parseEntry(text: string): Entry {
  const fields = parseObject(text, 'The entry');
  if (fields.v !== 1) throw new ProofError('The entry is of a version that this program does not know.');
  const entry = read(fields);
  if (write(entry) !== text) throw new ProofError('The entry is not written as the log writes entries.');
  return entry;
}

function read(fields: Fields): Entry {
  const type = textIn(fields, 'type');
  const domainId = textIn(fields, 'domain');
  switch (type) {
    case 'record':
      return { type, ...readRecord(fields, domainId) };
    case 'notice':
      return { type, domainId, notice: textIn(fields, 'notice'), firstSeenAt: textIn(fields, 'firstSeenAt') };
    case 'erasure':
      return { type, domainId, id: textIn(fields, 'id'), erasedOn: textIn(fields, 'erasedOn') };
    default:
      throw new ProofError(`The entry is of a type that this program does not know: ${type}.`);
  }
}

const readRecord = (fields: Fields, domainId: string) => ({
  id: textIn(fields, 'id'),
  domainId,
  decision: textIn(fields, 'decision'),
  decidedAt: textIn(fields, 'decidedAt'),
  receivedAt: textIn(fields, 'receivedAt'),
  importedAt: maybeText(fields, 'importedAt'),
  source: textIn(fields, 'source'),
  notice: maybeText(fields, 'notice'),
  gpc: maybeFlag(fields, 'gpc'),
  bot: maybeFlag(fields, 'bot'),
  commitments: { circumstances: textIn(fields, 'circumstances'), private: textIn(fields, 'private') },
});

function write(entry: Entry): string {
  switch (entry.type) {
    case 'record':
      return recordEntry(entry, entry.commitments);
    case 'notice':
      return noticeEntry(entry);
    case 'erasure':
      return erasureEntry(entry);
  }
}

const isFlag = (value: unknown): value is boolean => typeof value === 'boolean';
const isScalar = (value: unknown): value is string | number | boolean =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';

export function parseCircumstances(text: string): Circumstances {
  const fields = parseObject(text, 'The text of the circumstances');
  const circumstances: Circumstances = { preferences: maybeMap(fields, 'preferences', isFlag) };
  for (const [field] of circumstanceTexts) circumstances[field] = maybeText(fields, field);
  if (circumstancesText(circumstances) !== text)
    throw new ProofError('The circumstances are not written as the log writes them.');
  return circumstances;
}

export function parsePrivate(text: string): PrivateFields {
  const fields = parseObject(text, 'The text of the personal fields');
  const personal = {
    visitorId: maybeText(fields, 'visitorId'),
    ip: maybeText(fields, 'ip'),
    userAgent: maybeText(fields, 'userAgent'),
    pageUrl: maybeText(fields, 'pageUrl'),
    metadata: maybeMap(fields, 'metadata', isScalar),
  } satisfies Record<keyof PrivateFields, unknown>;
  if (privateText(personal) !== text)
    throw new ProofError('The personal fields are not written as the log writes them.');
  return personal;
}
