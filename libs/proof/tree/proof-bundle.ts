/**
 * A record's bundle: its proof as JSON, with the openings of its commitments, the notice and a time-stamp. Results come
 * from the texts that the log committed to, never from `record`.
 */
import { equal, fromBase64, fromHex, hex, utf8 } from './bytes.ts';
import { type Circumstances, commitment, newCircumstances, type PrivateFields } from './entry.ts';
import { countIn, type Fields, fieldOf, maybeText, objectIn, textIn, textsIn } from './fields.ts';
import { hashLength } from './hash.ts';
import { type Entry, parseCircumstances, parseEntry, parsePrivate } from './parse-entry.ts';
import { ProofError } from './proof-error.ts';
import { openTimestamp, type Timestamp } from './timestamp.ts';
import { type Crypto, type VerifiedEntry, verifyEntry } from './tlog-proof.ts';
import type { VerifierKey } from './verifier-key.ts';

export interface VerifiedBundle {
  proven: VerifiedEntry;
  entry: Entry;
  circumstances: Circumstances;
  /** null where the bundle says that they were erased: then nobody can open what the log committed to */
  personal: PrivateFields | null;
  /** the document that the visitor was shown */
  notice?: string;
  timestamp?: Timestamp & { /** whether it is over the very checkpoint of this proof */ isOfProof: boolean };
  /** fields of `record` that no commitment is about */
  unproven: string[];
}

/** Throws a ProofError that says what does not hold. */
export function verifyBundle(bundle: Fields, keys: VerifierKey[], crypto: Crypto): VerifiedBundle {
  const index = countIn(bundle, 'position');
  const proof = textsIn(bundle, 'proof').map(parseHash);
  const file = { entry: utf8(textIn(bundle, 'entry')), index, proof, checkpoint: textIn(bundle, 'checkpoint') };
  const proven = verifyEntry(file, keys, crypto);
  const entry = parseEntry(proven.entry);
  if (entry.type !== 'record') throw new ProofError(`A bundle is of a record, but its entry is of type ${entry.type}.`);

  const opening = objectIn(bundle, 'opening');
  const circumstances = parseCircumstances(
    open(crypto, objectIn(opening, 'circumstances'), entry.commitments.circumstances, 'circumstances'),
  );
  // must be present: an object opens the commitment, and null says that the fields were erased
  if (opening.private === undefined) throw new ProofError('`private` is missing.');
  const personal =
    opening.private === null
      ? null
      : parsePrivate(open(crypto, objectIn(opening, 'private'), entry.commitments.private, 'personal fields'));

  const { type: _, commitments: __, ...own } = entry;
  const log = countIn(bundle, 'log');
  checkLog(log, entry.domainId, proven.origin);
  const unproven = compare(objectIn(bundle, 'record'), { ...own, ...circumstances, ...personal, log, position: index });
  const notice = checkNotice(crypto, maybeText(bundle, 'notice'), entry.notice ?? undefined);
  const timestamp = fieldOf(bundle, 'timestamp') === undefined ? undefined : stamped(crypto, bundle, proven);
  return {
    proven,
    entry,
    circumstances,
    personal,
    unproven,
    ...(notice !== undefined && { notice }),
    ...(timestamp && { timestamp }),
  };
}

function parseHash(text: string): Uint8Array {
  const hash = fromBase64(text);
  if (hash?.length !== hashLength) throw new ProofError('A hash of the proof is not a SHA-256 in base64.');
  return hash;
}

/** The text, once it is the one that the entry commits to. */
function open({ sha256 }: Crypto, opening: Fields, expected: string, what: string): string {
  const salt = fromHex(textIn(opening, 'salt'));
  if (salt?.length !== 16) throw new ProofError(`The salt of the ${what} is not 32 hex digits.`);
  const text = textIn(opening, 'text');
  if (commitment(sha256, salt, text) !== expected) {
    throw new ProofError(`The ${what} are not those that the log committed to: the text or the salt was changed.`);
  }
  return text;
}

/** null counts as absent; maps are equal regardless of their order. */
const same = (claimed: unknown, known: unknown): boolean => {
  if (typeof claimed !== 'object' || typeof known !== 'object' || claimed === null || known === null) {
    return (claimed ?? undefined) === (known ?? undefined);
  }
  const [one, other] = [Object.entries(claimed), new Map(Object.entries(known))];
  return one.length === other.size && one.every(([name, value]) => other.has(name) && same(value, other.get(name)));
};

/**
 * Throws unless the record has every sealed field with its value (`optional` ones may be absent). Returns the names of its
 * other fields. Personal fields of an erased record are unknown to it too, and so is what a worker of 0.1.0 did not seal.
 */
function compare(record: Fields, all: Fields): string[] {
  const known = Object.fromEntries(
    Object.entries(all).filter(([name, value]) => value !== undefined || !newCircumstances.has(name)),
  );
  for (const [name, value] of Object.entries(known)) {
    const claimed = fieldOf(record, name);
    if (claimed === undefined && optional.has(name)) continue;
    const isSame = name === 'bot' ? (claimed ?? false) === (value ?? false) : same(claimed, value);
    if (!isSame) {
      throw new ProofError(
        `The record says that \`${name}\` is ${show(claimed)}, but what the log committed to is ${show(value)}.`,
      );
    }
  }
  return Object.keys(record).filter((name) => !Object.hasOwn(known, name) && fieldOf(record, name) !== undefined);
}

/** A record need not say when it was imported, nor where it stands in the log. */
const optional = new Set(['importedAt', 'log', 'position']);

/** characters of a value that a message shows */
const shown = 300;

function show(value: unknown): string {
  if (value === undefined) return 'absent';
  try {
    const text = JSON.stringify(value);
    return text.length > shown ? `${text.slice(0, shown)}…` : text;
  } catch {
    return 'nested too deep to be shown';
  }
}

function checkNotice({ sha256 }: Crypto, document: string | undefined, hash: string | undefined): string | undefined {
  if (document === undefined) return undefined;
  if (hash === undefined) throw new ProofError('The bundle has a notice, but the entry names none.');
  if (hex(sha256(utf8(document))) !== hash)
    throw new ProofError('The notice is not the one that the entry names: its text was changed.');
  return document;
}

/** An origin ends with the domain, and from a domain's second log on with its number. */
function checkLog(log: number, domainId: string, origin: string): void {
  if (!origin.endsWith(log === 1 ? `/${domainId}` : `/${domainId}/${log}`)) {
    throw new ProofError(
      `The bundle says that this is log ${log} of ${domainId}, but the checkpoint is one of ${origin}.`,
    );
  }
}

function stamped({ sha256 }: Crypto, bundle: Fields, proven: VerifiedEntry) {
  const timestamp = openTimestamp(sha256, objectIn(bundle, 'timestamp'));
  const { origin } = timestamp.checkpoint;
  if (origin !== proven.origin) {
    throw new ProofError(`The time-stamp is of a checkpoint of ${origin}, not of ${proven.origin}.`);
  }
  return { ...timestamp, isOfProof: equal(utf8(timestamp.body), utf8(proven.checkpoint)) };
}
