/**
 * A visitor's answer, as `…/visitors/…` gives it and the dashboard saves it: each of its records is held against its own
 * bundle. Nothing proves that it has all of the visitor's records.
 */
import { base64 } from './bytes.ts';
import { type Verified, verdictOf } from './check-file.ts';
import { categories, headline } from './facts.ts';
import { type Fields, fieldOf, isObject, textIn } from './fields.ts';
import { verifyBundle } from './proof-bundle.ts';
import { ProofError } from './proof-error.ts';
import type { Crypto } from './tlog-proof.ts';
import type { VerifierKey } from './verifier-key.ts';

/**
 * Why a record has no proof: it was not sealed when it was read, the file was made without bundles, or its
 * personal fields were erased, so that its visitor cannot be identified.
 */
type Without = 'not sealed yet' | 'no bundles' | 'no visitor';

/** `why`: why it does not hold; null if there is no proof at all, and then `without` says why. */
export type RecordVerdict = { id: string } & (
  | ({ holds: true } & Verified)
  | { holds: false; why: string }
  | { holds: false; why: null; without: Without }
);

export interface VisitorVerdict {
  /** whether each record does */
  holds: boolean;
  visitorId: string;
  /** in the order of the answer */
  records: RecordVerdict[];
}

/** `answer`: the JSON. Throws a ProofError where it has no visitor. */
export function checkVisitor(response: Fields, keys: VerifierKey[], crypto: Crypto): VisitorVerdict {
  const visitorId = textIn(response, 'visitorId');
  const listed = Array.isArray(response.records)
    ? response.records.map((record) => (isObject(record) ? record : {}))
    : [];
  const hasBundles = isObject(response.bundles);
  const bundles = isObject(response.bundles) ? response.bundles : {};
  const once = rememberingSignatures(crypto);
  const places = new Set<string>();
  /** keys of the bundles: the record's id, or `domainId/id` if an earlier record has the same id */
  const names = new Set<string>();
  const records = listed.map((record): RecordVerdict => {
    const id = typeof record.id === 'string' ? record.id : '';
    const place = `${record.domainId}/${id}`;
    if (places.has(place)) return { id, holds: false, why: 'The download has this record twice.' };
    places.add(place);
    const name = names.has(id) ? place : id;
    names.add(name);
    const bundle = fieldOf(bundles, name);
    const isSealed = typeof record.position === 'number';
    if (bundle === undefined && hasBundles && isSealed)
      return { id, holds: false, why: 'The download says that it is sealed, but has no bundle of it.' };
    if (bundle === undefined)
      return { id, holds: false, why: null, without: isSealed ? 'no bundles' : 'not sealed yet' };
    const verdict = verdictOf(() => proveRecord(visitorId, record, bundle, keys, once));
    return verdict.holds && verdict.personal === null
      ? { id, holds: false, why: null, without: 'no visitor' }
      : { id, ...verdict };
  });
  const strays = Object.keys(bundles).filter((name) => !names.has(name));
  for (const id of strays)
    records.push({ id, holds: false, why: 'The download has a bundle of it, but not the record.' });
  return { holds: records.every(({ holds }) => holds), visitorId, records };
}

/** Both the record of the list and that of the bundle have to be what was sealed. */
function proveRecord(
  visitorId: string,
  record: Fields,
  bundle: unknown,
  keys: VerifierKey[],
  crypto: Crypto,
): Verified {
  if (!isObject(bundle)) throw new ProofError('Its bundle is no object.');
  verifyBundle(bundle, keys, crypto);
  const proven = verifyBundle({ ...bundle, record }, keys, crypto);
  if (proven.personal && proven.personal.visitorId !== visitorId) {
    throw new ProofError('It is a record of another visitor than the download says.');
  }
  return proven;
}

/** Thousands of records share one checkpoint, and in a page a signature takes a millisecond or two. */
function rememberingSignatures({ sha256, verifyEd25519 }: Crypto): Crypto {
  const known = new Map<string, boolean>();
  return {
    sha256,
    verifyEd25519: (publicKey, message, signature) => {
      const name = [publicKey, sha256(message), signature].map(base64).join(' ');
      const isGood = known.get(name) ?? verifyEd25519(publicKey, message, signature);
      known.set(name, isGood);
      return isGood;
    },
  };
}

/** One line for all records. */
export function summaryOf({ visitorId, records }: VisitorVerdict): string {
  const of = (count: number, one: string, many: string) => `${count} ${count === 1 ? one : many}`;
  const held = records.filter(({ holds }) => holds).length;
  const without = (reason: Without) =>
    records.filter((record) => 'without' in record && record.without === reason).length;
  const [unsealed, bare, erased] = [without('not sealed yet'), without('no bundles'), without('no visitor')];
  const failed = records.length - held - unsealed - bare - erased;
  const parts = [
    of(held, 'holds', 'hold'),
    ...(failed > 0 ? [of(failed, 'does not hold', 'do not hold')] : []),
    ...(unsealed > 0
      ? [of(unsealed, 'was not sealed yet, so it has no proof', 'were not sealed yet, so they have no proof')]
      : []),
    ...(erased > 0
      ? [
          of(
            erased,
            'is erased, so that nothing proves whose it was',
            'are erased, so that nothing proves whose they were',
          ),
        ]
      : []),
    ...(bare > 0 ? [`${bare} cannot be checked, since this download has no bundles: download it again`] : []),
  ];
  return `${of(records.length, 'record', 'records')} of the visitor ${visitorId}: ${parts.join(', ')}.`;
}

/** Those that do not hold first, then those without a proof: among thousands they would be missed. */
export const worstFirst = (records: RecordVerdict[]): RecordVerdict[] =>
  records.toSorted((one, other) => rankOf(one) - rankOf(other));

const rankOf = (record: RecordVerdict): number => (record.holds ? 2 : record.why === null ? 1 : 0);

/** What one record's verdict is in words, without its id. */
export function lineOf(record: RecordVerdict): string {
  if (record.holds) {
    const { preferences } = record.circumstances ?? {};
    const chosen = preferences ? ` Categories: ${categories(preferences)}.` : '';
    return `holds: ${headline(record)}${chosen} Position ${record.proven.index}.`;
  }
  if (record.why !== null) return `does not hold: ${record.why}`;
  return withoutProof[record.without];
}

const withoutProof: Record<Without, string> = {
  'not sealed yet': 'no proof: it was not sealed yet',
  'no bundles': 'not checked: it is sealed, but this download is from before downloads had bundles',
  'no visitor': 'no proof: its personal fields are erased, so nothing proves whose record it was',
};

export const visitorLimit =
  "That the download has all of the visitor's records: nobody can tell whether one was left out.";
