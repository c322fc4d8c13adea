/**
 * The texts that the log commits to. They must never change: with a single byte changed, stored proofs could not be
 * recomputed. They are written field by field for speed, since every record needs three of them.
 */
import { base64url, equal } from './bytes.ts';
import type { Sha256 } from './hash.ts';

type Text = string | null | undefined;

/** The text fields among a record's circumstances, in their order, with readable names. */
export const circumstanceTexts = [
  ['bannerVersion', 'Banner version'],
  ['policyVersion', 'Policy version'],
  ['language', 'Language'],
  ['country', 'Country'],
  ['variant', 'Variant'],
  ['tcString', 'TC string'],
  ['gppString', 'GPP string'],
  ['region', 'Region'],
  ['model', 'Model'],
] as const;

/** The fields of a record's circumstances. */
export type Circumstances = { [Field in (typeof circumstanceTexts)[number][0]]?: Text } & {
  preferences?: Record<string, boolean> | null | undefined;
};

/** Fields that a worker of 0.1.0 does not know: it seals a record as if they were absent. */
export const newCircumstances: ReadonlySet<string> = new Set(['region', 'model']);

/** The forms in which a record may have been sealed: complete, or as a worker of 0.1.0 knows it. */
export const sealedAs = <R extends Circumstances>(record: R): R[] =>
  isText(record.region) || isText(record.model) ? [record, { ...record, region: null, model: null }] : [record];

/** A record's personal fields. */
export interface PrivateFields {
  visitorId?: Text;
  ip?: Text;
  userAgent?: Text;
  pageUrl?: Text;
  metadata?: Record<string, string | number | boolean> | null | undefined;
}

/** The plain fields of an entry; times are RFC 3339, UTC, with milliseconds. */
export interface EntryFields {
  id: string;
  domainId: string;
  decision: string;
  decidedAt: string;
  receivedAt: string;
  importedAt?: Text;
  source: string;
  /** the SHA-256 of the notice that was shown, 64 hex digits */
  notice?: Text;
  gpc?: boolean | null | undefined;
  bot?: boolean | null | undefined;
}

/** A full record with the fields that imports and notices add. */
export type SealedRecord = EntryFields & Circumstances & PrivateFields;

/** Commitments in base64url. */
export interface Commitments {
  circumstances: string;
  private: string;
}

export function recordEntry(record: EntryFields, commitments: Commitments): string {
  let text = `{"v":1,"type":"record","id":${quote(record.id)},"domain":${quote(record.domainId)}`;
  text += `,"decision":${quote(record.decision)}`;
  text += `,"decidedAt":${quote(record.decidedAt)},"receivedAt":${quote(record.receivedAt)}`;
  if (isText(record.importedAt)) text += `,"importedAt":${quote(record.importedAt)}`;
  text += `,"source":${quote(record.source)}`;
  if (isText(record.notice)) text += `,"notice":${quote(record.notice)}`;
  if (typeof record.gpc === 'boolean') text += `,"gpc":${record.gpc}`;
  if (record.bot) text += ',"bot":true';
  return `${text},"circumstances":"${commitments.circumstances}","private":"${commitments.private}"}`;
}

export interface NoticeEntry {
  domainId: string;
  notice: string;
  firstSeenAt: string;
}

export const noticeEntry = ({ domainId, notice, firstSeenAt }: NoticeEntry): string =>
  `{"v":1,"type":"notice","domain":${quote(domainId)},"notice":${quote(notice)},"firstSeenAt":${quote(firstSeenAt)}}`;

export interface ErasureEntry {
  domainId: string;
  /** of the erased record */
  id: string;
  /** YYYY-MM-DD */
  erasedOn: string;
}

export const erasureEntry = ({ domainId, id, erasedOn }: ErasureEntry): string =>
  `{"v":1,"type":"erasure","domain":${quote(domainId)},"id":${quote(id)},"erasedOn":${quote(erasedOn)}}`;

export const circumstancesText = (record: Circumstances): string =>
  circumstancesTextWith(record.preferences ? mapText(record.preferences) : undefined, record);

/** `preferences`: their `mapText`, if the caller already has it. */
export function circumstancesTextWith(preferences: Text, record: Omit<Circumstances, 'preferences'>): string {
  let text = '';
  if (isText(preferences)) text += `,"preferences":${preferences}`;
  if (isText(record.bannerVersion)) text += `,"bannerVersion":${quote(record.bannerVersion)}`;
  if (isText(record.policyVersion)) text += `,"policyVersion":${quote(record.policyVersion)}`;
  if (isText(record.language)) text += `,"language":${quote(record.language)}`;
  if (isText(record.country)) text += `,"country":${quote(record.country)}`;
  if (isText(record.variant)) text += `,"variant":${quote(record.variant)}`;
  if (isText(record.tcString)) text += `,"tcString":${quote(record.tcString)}`;
  if (isText(record.gppString)) text += `,"gppString":${quote(record.gppString)}`;
  if (isText(record.region)) text += `,"region":${quote(record.region)}`;
  if (isText(record.model)) text += `,"model":${quote(record.model)}`;
  return `{${text.slice(1)}}`;
}

export function privateText(record: PrivateFields): string {
  let text = '';
  if (isText(record.visitorId)) text += `,"visitorId":${quote(record.visitorId)}`;
  if (isText(record.ip)) text += `,"ip":${quote(record.ip)}`;
  if (isText(record.userAgent)) text += `,"userAgent":${quote(record.userAgent)}`;
  if (isText(record.pageUrl)) text += `,"pageUrl":${quote(record.pageUrl)}`;
  if (record.metadata) text += `,"metadata":${mapText(record.metadata)}`;
  return `{${text.slice(1)}}`;
}

const isText = (value: Text): value is string => typeof value === 'string';

/** Sorted by code unit. An object would put `9` before `10`, and both before all other names. */
export function mapText(map: Record<string, string | number | boolean>): string {
  let text = '';
  for (const name of sorted(Object.keys(map))) {
    const value = map[name];
    if (value === undefined) continue;
    text += `,${quote(name)}:${valueText(value)}`;
  }
  return `{${text.slice(1)}}`;
}

/** Insertion sort in place: for the few names of a map it takes a third of the time of `sort`. */
function sorted(names: string[]): string[] {
  for (let from = 1; from < names.length; from++) {
    const name = names[from] ?? '';
    let to = from;
    for (; to > 0; to--) {
      const before = names[to - 1] ?? '';
      if (before <= name) break;
      names[to] = before;
    }
    names[to] = name;
  }
  return names;
}

function valueText(value: string | number | boolean): string {
  if (typeof value === 'string') return quote(value);
  return typeof value === 'boolean' ? `${value}` : JSON.stringify(value);
}

/** Like JSON.stringify, but in half the time for texts without escapes, which nearly all are. */
const plain = /^[ !#-[\]-~]*$/;
const quote = (text: string): string => (plain.test(text) ? `"${text}"` : JSON.stringify(text));

type SaltLabel = 'circumstances' | 'private';

const saltLength = 16;
const labels = {
  circumstances: new TextEncoder().encode('circumstances'),
  private: new TextEncoder().encode('private'),
};

/** Derives the 16-byte salt of one commitment from the record's secret (16 random bytes). */
export function saltOf(sha256: Sha256, label: SaltLabel, secret: Uint8Array): Uint8Array {
  const prefix = labels[label];
  const input = new Uint8Array(prefix.length + secret.length);
  input.set(prefix);
  input.set(secret, prefix.length);
  return sha256(input).subarray(0, saltLength);
}

const encoder = new TextEncoder();
/** A reused buffer: checking a log hashes three texts for each entry. */
let scratch = new Uint8Array(4_096);

/** The bytes of the prefix and the text. */
function joined(before: Uint8Array, text: string): Uint8Array {
  // UTF-8 takes at most three bytes a code unit
  const most = before.length + 3 * text.length;
  if (scratch.length < most) scratch = new Uint8Array(2 * most);
  scratch.set(before);
  const { written } = encoder.encodeInto(text, scratch.subarray(before.length));
  return scratch.subarray(0, before.length + written);
}

export const commitment = (sha256: Sha256, salt: Uint8Array, text: string): string =>
  base64url(sha256(joined(salt, text)));

const leafPrefix = new Uint8Array(1);

/** The `leafHash` of an entry's text. */
export const textLeafHash = (sha256: Sha256, text: string): Uint8Array => sha256(joined(leafPrefix, text));

/** What opens a commitment. */
export interface Opening {
  salt: Uint8Array;
  text: string;
}

/** `secret`: the record's own. */
const openingsOf = (sha256: Sha256, record: SealedRecord, secret: Uint8Array): Record<SaltLabel, Opening> => ({
  circumstances: { salt: saltOf(sha256, 'circumstances', secret), text: circumstancesText(record) },
  private: { salt: saltOf(sha256, 'private', secret), text: privateText(record) },
});

/** The parts of an entry besides its record. */
interface Sealed {
  /** 32 bytes as stored */
  leaf: Uint8Array;
  secret: Uint8Array;
  erased: Uint8Array | null;
}

/**
 * A sealed record's entry, including records whose personal fields were erased: then `secret` is the salt of
 * `circumstances`, and `erased` the 32 bytes of the commitment `private`. Of the forms in which it may have been sealed,
 * this returns the one whose hash is the leaf.
 */
export function sealedEntryOf(sha256: Sha256, record: SealedRecord, sealed: Sealed): string {
  const [entry = '', former] = sealedAs(record).map((each) => storedEntryOf(sha256, each, sealed));
  if (former === undefined || equal(textLeafHash(sha256, entry), sealed.leaf)) return entry;
  return equal(textLeafHash(sha256, former), sealed.leaf) ? former : entry;
}

const storedEntryOf = (sha256: Sha256, record: SealedRecord, { secret, erased }: Sealed): string =>
  erased
    ? recordEntry(record, {
        circumstances: commitment(sha256, secret, circumstancesText(record)),
        private: base64url(erased),
      })
    : entryOf(sha256, record, secret);

/** A record's entry. Its hash is the leaf. */
export function entryOf(sha256: Sha256, record: SealedRecord, secret: Uint8Array): string {
  const { circumstances, private: personal } = openingsOf(sha256, record, secret);
  return recordEntry(record, {
    circumstances: commitment(sha256, circumstances.salt, circumstances.text),
    private: commitment(sha256, personal.salt, personal.text),
  });
}
