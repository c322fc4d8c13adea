/** What is brought to be checked: each says what it is, and only a proof that fails “does not hold”. */
import { describe, expect, it } from 'vitest';
import { base64, hex, utf8 } from '#libs/proof/tree/bytes';
import { parseVerifierKeys } from '#libs/proof/tree/check-file';
import { circumstancesText, entryOf, privateText, saltOf } from '#libs/proof/tree/entry';
import { examine, recognize } from '#libs/proof/tree/recognize';
import { lineOf, summaryOf, worstFirst } from '#libs/proof/tree/visitor-download';
import { bundle } from '../support/log-bundle.ts';
import { sha256, signedLog, vector, verifyEd25519 } from '../support/log-vector.ts';

const keys = parseVerifierKeys(sha256, vector.verifierKey);
const look = (file: object | string | Uint8Array) => {
  const found = recognize(
    file instanceof Uint8Array ? file : utf8(typeof file === 'string' ? file : JSON.stringify(file)),
  );
  return found.kind === 'nothing' ? found : examine(found, keys, { sha256, verifyEd25519 });
};

/** The bundle as text, with so many brackets in place of a field of its record. */
const nested = ({ record, ...rest }: typeof bundle, field: string, levels: number): string => {
  const text = JSON.stringify({ ...rest, record: { ...record, [field]: 'deep' } });
  return text.replace('"deep"', '['.repeat(levels) + ']'.repeat(levels));
};

it.each<[string, object | string | Uint8Array, string, boolean]>([
  ['a proof file', vector.proof, 'proof', true],
  ['a bundle', bundle, 'bundle', true],
  ['a checkpoint', vector.checkpoint, 'checkpoint', true],
  ['a proof file that was cut off', vector.proof.slice(0, 40), 'proof', false],
  ['a bundle without its position', { ...bundle, position: undefined }, 'bundle', false],
  ['a checkpoint of another size', vector.checkpoint.replace('\n3\n', '\n4\n'), 'checkpoint', false],
  ['a bundle with a value nested beyond all sense', nested(bundle, 'decision', 100_000), 'bundle', false],
])('%s is known as what it is, and checked', (_, file, kind, holds) => {
  expect(look(file)).toMatchObject({ kind, verdict: { holds } });
});

it.each<[string, object | string | Uint8Array]>([
  ['nothing', ''],
  ['bytes', Uint8Array.of(0xff)],
  ['words', 'Dear Sir or Madam,\n\nyours\n'],
  ['another JSON', { name: 'x', proof: [] }],
  ['a list of records', [bundle.record]],
  ['a download that was cut off', JSON.stringify(bundle).slice(0, -9)],
])('%s is not a proof', (_, file) => {
  expect(look(file)).toEqual({ kind: 'nothing', why: expect.stringMatching(/^[A-Z].*\.$/) });
});

describe("a visitor's answer", () => {
  const { record } = bundle;
  const response = (records: object[], bundles: object = { [record.id]: bundle }) => {
    const found = look({ visitorId: 'v-1', records, bundles });
    return found.kind === 'visitor' ? found.verdict : expect.fail(found.kind);
  };

  it('holds where each of its records does, and says so in a line for each and one for all', () => {
    const verdict = response([record]);
    expect(verdict).toMatchObject({
      holds: true,
      records: [{ id: record.id, holds: true, personal: { visitorId: 'v-1' } }],
    });
    const line =
      'holds: On 20 October 2025, 05:03 UTC, a visitor of shop.example chose by category. ' +
      'Categories: 9 denied, 10 allowed, analytics allowed. Position 1.';
    expect(verdict.records.map(lineOf)).toEqual([line]);
    expect(summaryOf(verdict)).toBe('1 record of the visitor v-1: 1 holds.');
  });

  const gone = { visitorId: null, ip: null, userAgent: null, pageUrl: null, metadata: null };
  const erased = { ...bundle, record: { ...record, ...gone }, opening: { ...bundle.opening, private: null } };
  it('proves nothing of a record that is erased, which may be anybody’s', () => {
    const verdict = response([record], { [record.id]: erased });
    expect(verdict.holds).toBe(false);
    expect(verdict.records.map(lineOf)).toEqual([
      'no proof: its personal fields are erased, so nothing proves whose record it was',
    ]);
    expect(summaryOf(verdict)).toBe(
      '1 record of the visitor v-1: 0 hold, 1 is erased, so that nothing proves whose it was.',
    );
  });

  const signed = (by: string) => ({ ...bundle, checkpoint: vector.checkpoint.replaceAll('consent.example.com', by) });
  it.each<[string, object[], object, string]>([
    [
      'a changed record',
      [{ ...record, decision: 'accept_all' }],
      { [record.id]: bundle },
      '`decision` is "accept_all"',
    ],
    ['another’s id', [{ ...record, id: 'x' }], { x: bundle }, '`id` is "x"'],
    ['a changed bundle', [record], { [record.id]: { ...bundle, record: { ...record, gpc: false } } }, '`gpc`'],
    [
      'one of another installation',
      [record],
      { [record.id]: signed('other.example') },
      'signed by other.example/dom_test',
    ],
    ['a record twice', [record, record], { [record.id]: bundle }, 'twice'],
    ['a bundle alone', [], { [record.id]: bundle }, 'not the record'],
    ['a bundle that is none', [record], { [record.id]: 'x' }, 'no object'],
  ])('does not hold with %s', (_, records, bundles, why) => {
    const verdict = response(records, bundles);
    expect(verdict.holds).toBe(false);
    expect(verdict.records.map((one) => (one.holds ? '' : (one.why ?? ''))).join()).toContain(why);
    expect(summaryOf(verdict)).toMatch(/does not hold/);
  });

  it('of another visitor does not hold', () => {
    const bundles = { [record.id]: bundle };
    for (const one of [record, { ...record, visitorId: 'v-2' }])
      expect(look({ visitorId: 'v-2', records: [one], bundles })).toMatchObject({ verdict: { holds: false } });
  });

  it('does not call false what was not sealed yet, and does not call it proven', () => {
    const verdict = response([record, { ...record, id: 'new', log: null, position: null }]);
    expect(verdict.holds).toBe(false);
    expect(summaryOf(verdict)).toBe('2 records of the visitor v-1: 1 holds, 1 was not sealed yet, so it has no proof.');
  });

  it('from before answers had bundles says so, and that a bundle is missing where others are there', () => {
    const found = look({ visitorId: 'v-1', records: [record, { ...record, id: 'new', position: null }] });
    const { verdict } = found.kind === 'visitor' ? found : expect.fail(found.kind);
    expect(verdict.records.map(lineOf)).toEqual([
      'not checked: it is sealed, but this download is from before downloads had bundles',
      'no proof: it was not sealed yet',
    ]);
    expect(summaryOf(verdict)).toContain(
      '1 was not sealed yet, so it has no proof, 1 cannot be checked, since this download has no bundles',
    );
    expect(response([record], {}).records.map(lineOf)).toEqual([
      'does not hold: The download says that it is sealed, but has no bundle of it.',
    ]);
  });

  it('of many records names the one that was changed and the two of another installation, and shows them first', () => {
    const records = Array.from({ length: 200 }, (_, position) => {
      return { ...record, id: record.id.slice(0, -3) + String(position).padStart(3, '0'), position };
    });
    const secretOf = (position: number) => sha256(utf8(`secret ${position}`)).subarray(0, 16);
    const entries = records.map((each) => entryOf(sha256, each, secretOf(each.position)));
    const { checkpoint, paths } = signedLog(entries);
    const elsewhere = signedLog(entries, 'other.example/dom_test');
    const bundles = records.map((each) => {
      const { id, position } = each;
      const opened = (label: 'circumstances' | 'private', text: string) => ({
        salt: hex(saltOf(sha256, label, secretOf(position))),
        text,
      });
      const opening = {
        circumstances: opened('circumstances', circumstancesText(each)),
        private: opened('private', privateText(each)),
      };
      const made = { ...bundle, record: each, entry: entries[position], opening, position };
      const from = [80, 199].includes(position) ? elsewhere : { checkpoint, paths };
      return [id, { ...made, checkpoint: from.checkpoint, proof: (from.paths[position] ?? []).map(base64) }];
    });
    const listed = records.map((each) => (each.position === 50 ? { ...each, decision: 'reject_all' } : each));
    const verdict = response(listed, Object.fromEntries(bundles));
    const wrong = [50, 80, 199].map((position) => records[position]?.id);
    expect(verdict.records.flatMap((each) => (each.holds ? [] : [[each.id, each.why]]))).toEqual([
      [wrong[0], expect.stringContaining('`decision` is "reject_all"')],
      [wrong[1], expect.stringContaining('signed by other.example/dom_test')],
      [wrong[2], expect.stringContaining('signed by other.example/dom_test')],
    ]);
    expect(
      worstFirst(verdict.records)
        .map(({ id }) => id)
        .slice(0, 4),
    ).toEqual([...wrong, records[0]?.id]);
    expect(summaryOf(verdict)).toBe('200 records of the visitor v-1: 197 hold, 3 do not hold.');
  });
});
