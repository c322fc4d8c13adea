import { describe, expect, it } from 'vitest';
import { base64, utf8 } from '#libs/proof/tree/bytes';
import { checkFile, parseVerifierKeys } from '#libs/proof/tree/check-file';
import { circumstancesText, commitment, erasureEntry, recordEntry } from '#libs/proof/tree/entry';
import { factsOf, headline, opensslCommands } from '#libs/proof/tree/facts';
import { formatTlogProof } from '#libs/proof/tree/tlog-proof';
import { bundle, timestamp, timestampDigest } from '../support/log-bundle.ts';
import { sha256, signedLog, vector, verifyEd25519 } from '../support/log-vector.ts';

const keys = parseVerifierKeys(sha256, `\n ${vector.verifierKey} \r\n`);
const check = (file: object | string, given = keys) =>
  checkFile(utf8(typeof file === 'string' ? file : JSON.stringify(file)), given, { sha256, verifyEd25519 });

const holding = (file: object | string) => {
  const verdict = check(file);
  return verdict.holds ? verdict : expect.fail(verdict.why);
};

const refused = (file: object | string, why: string, given = keys) =>
  expect(check(file, given)).toEqual({ holds: false, why: expect.stringContaining(why) });

/** A log of one entry. */
function logOf(entry: string, origin = vector.origin) {
  const { key, checkpoint } = signedLog([entry], origin);
  return { keys: [key], checkpoint, file: formatTlogProof({ entry: utf8(entry), index: 0, proof: [], checkpoint }) };
}

describe('a bundle', () => {
  it('proves the record, its circumstances and its personal fields', () => {
    const verdict = holding(bundle);
    expect(verdict).toMatchObject({
      proven: { index: 1, size: 3, origin: vector.origin },
      entry: { type: 'record', decision: 'custom' },
      circumstances: { preferences: { 10: true, 9: false, analytics: true }, bannerVersion: '2.4.1' },
      personal: { visitorId: 'v-1', metadata: { a: 1, b: 'x' } },
      unproven: [],
    });
    // the host of the page, which only a bundle opens
    expect(headline(verdict)).toBe('On 20 October 2025, 05:03 UTC, a visitor of shop.example chose by category.');
    expect(factsOf(verdict)).toEqual(
      expect.arrayContaining([
        ['Categories', '9 denied, 10 allowed, analytics allowed'],
        ['Visitor', 'v-1'],
        ['Position', '1 (counted from 0), in a log of 3 entries'],
        ['Signed by', vector.verifierKey],
      ]),
    );
  });

  it('needs no record that knows its place, and names the fields that nothing proves', () => {
    const { log: _, position: __, ...record } = bundle.record;
    expect(
      holding({ ...bundle, record: { ...record, erasedAt: '2025-11-01T00:00:00.000Z', colour: 'red' } }).unproven,
    ).toEqual(['erasedAt', 'colour']);
  });

  it('of a record that was sealed without its region and model opens what was sealed, and calls them not proven', () => {
    const placed = { ...bundle.record, region: 'US-CA', model: 'opt_out' };
    const lacking = holding({ ...bundle, record: placed });
    expect(lacking.unproven).toEqual(['region', 'model']);
    expect(factsOf(lacking)).toContainEqual(['Not proven', 'region, model']);
    // as a worker of this release seals it
    const salt = Uint8Array.from(Buffer.from(bundle.opening.circumstances.salt, 'hex'));
    const text = circumstancesText({ ...vector.record, region: 'US-CA', model: 'opt_out' });
    const commitments = {
      circumstances: commitment(sha256, salt, text),
      private: vector.private.commitment,
    };
    const entry = recordEntry(vector.record, commitments);
    const { checkpoint, keys } = logOf(entry);
    const opening = { ...bundle.opening, circumstances: { ...bundle.opening.circumstances, text } };
    const file = { ...bundle, record: placed, entry, position: 0, proof: [], checkpoint, opening };
    const whole = check({ ...file, record: { ...placed, position: 0 } }, keys);
    expect(whole).toMatchObject({ holds: true, unproven: [], circumstances: { region: 'US-CA', model: 'opt_out' } });
    for (const change of [{ region: 'US-NY' }, { region: null }, { model: null }])
      refused({ ...file, record: { ...placed, position: 0, ...change } }, 'what the log committed to is', keys);
  });

  it('of an erased record proves the rest, and says that the personal fields are gone', () => {
    const record = { ...bundle.record, visitorId: null, ip: null, userAgent: null, pageUrl: null, metadata: null };
    const erased = { ...bundle, record, opening: { ...bundle.opening, private: null } };
    const verdict = holding(erased);
    expect(verdict).toMatchObject({ personal: null, unproven: [] });
    expect(factsOf(verdict)).toContainEqual(['Personal fields', expect.stringContaining('erased')]);
    expect(holding({ ...erased, record: bundle.record }).unproven).toContain('visitorId');
  });

  it.each<[string, object, string]>([
    [
      'another decision',
      { decision: 'accept_all' },
      '`decision` is "accept_all", but what the log committed to is "custom"',
    ],
    ['another time', { decidedAt: '2025-10-20T05:03:11.361Z' }, '`decidedAt`'],
    ['another category', { preferences: { analytics: false, 9: false, 10: true } }, '`preferences`'],
    ['a category more', { preferences: { analytics: true, 9: false, 10: true, ads: true } }, '`preferences`'],
    ['a country', { country: 'DE' }, '`country` is "DE", but what the log committed to is absent'],
    ['another visitor', { visitorId: 'v-2' }, '`visitorId`'],
    ['a metadata value of another type', { metadata: { a: '1', b: 'x' } }, '`metadata`'],
    ['another domain', { domainId: 'dom_x' }, '`domainId`'],
    ['a signal taken back', { gpc: false }, '`gpc`'],
    ['a crawler', { bot: true }, '`bot`'],
    ['an import', { importedAt: '2025-10-20T05:03:11.361Z' }, '`importedAt`'],
    ['another position', { position: 2 }, '`position`'],
    ['another notice', { notice: 'cd'.repeat(32) }, '`notice`'],
    ['no time', { receivedAt: undefined }, '`receivedAt` is absent'],
  ])('does not hold where its record has %s', (_, change, why) => {
    refused({ ...bundle, record: { ...bundle.record, ...change } }, why);
  });

  const { circumstances, private: personal } = bundle.opening;
  const opened = (change: object) => ({ opening: { ...bundle.opening, ...change } });
  it.each<[string, object, string]>([
    ['nothing', { entry: undefined, record: undefined }, '`entry` is missing'],
    ['another entry', { entry: vector.entries[0] }, 'does not have this entry'],
    ['an entry with a space more', { entry: vector.entries[1]?.replace(',', ', ') }, 'does not have this entry'],
    ['another position', { position: 0 }, 'does not have this entry at position 0'],
    ['a position as text', { position: '1' }, '`position` is missing, or no whole number'],
    ['a proof cut short', { proof: bundle.proof.slice(1) }, 'does not have this entry'],
    ['a proof of something else', { proof: [1, 2] }, '`proof` is missing, or no list of texts'],
    ['another text', opened({ circumstances: { ...circumstances, text: '{}' } }), 'The circumstances are not those'],
    ['another salt', opened({ circumstances: { ...circumstances, salt: personal.salt } }), 'The circumstances are not'],
    ['a salt cut short', opened({ circumstances: { ...circumstances, salt: 'aa' } }), 'salt of the circumstances'],
    ['no circumstances', { opening: { private: personal } }, '`circumstances` is missing'],
    ['openings of each other', opened({ circumstances: personal, private: circumstances }), 'not those that the log'],
    ['no personal fields that are not said to be erased', { opening: { circumstances } }, '`private` is missing'],
    ['no opening', { opening: null }, '`opening` is missing'],
    ['another log', { log: 2 }, 'says that this is log 2 of dom_test'],
    ['a notice of another text', { notice: '{}' }, 'The notice is not the one'],
    ['a checkpoint of strangers', { checkpoint: vector.checkpoint.replace('i+mA', 'AAAA') }, 'another key of'],
  ])('does not hold with %s', (_, change, why) => {
    refused({ ...bundle, ...change }, why);
  });

  it('with any byte changed does not hold, or says the same or less', () => {
    const whole = utf8(JSON.stringify({ ...bundle, timestamp }));
    const said = new Map(factsOf(holding({ ...bundle, timestamp })));
    const harmless: number[] = [];
    for (let at = 0; at < whole.length; at++) {
      const byte = (whole[at] ?? 0) ^ (1 << (at % 8));
      const verdict = checkFile(whole.with(at, byte), keys, { sha256, verifyEd25519 });
      if (!verdict.holds) continue;
      harmless.push(at);
      for (const [name, value] of factsOf(verdict)) if (name !== 'Not proven') expect(value).toBe(said.get(name));
    }
    // the keys that came along count for nothing, and what is not said need not be called right; all else counts
    const text = Buffer.from(whole);
    for (const part of [bundle.entry, bundle.opening, bundle.proof, bundle.checkpoint]) {
      const begin = text.indexOf(JSON.stringify(part));
      const end = begin + Buffer.byteLength(JSON.stringify(part));
      expect(begin).toBeGreaterThan(0);
      expect(harmless.filter((at) => at >= begin && at < end)).toEqual([]);
    }
  });

  it('is not read from something else', () => {
    refused('{', 'The bundle is not JSON.');
    refused('[]', 'no proof file');
    refused(bundle, 'no verifier key', []);
    expect(checkFile(Uint8Array.of(0xff), keys, { sha256, verifyEd25519 })).toMatchObject({ holds: false });
  });

  it('proves the notice by the hash that the entry names', () => {
    const notice = '{"language":"de","text":"Dürfen wir?"}';
    const record = { ...vector.record, notice: Buffer.from(sha256(utf8(notice))).toString('hex') };
    const entry = recordEntry(record, {
      circumstances: vector.circumstances.commitment,
      private: vector.private.commitment,
    });
    const { checkpoint, keys } = logOf(entry);
    const file = { ...bundle, record, entry, position: 0, proof: [], checkpoint, notice };
    expect(check(file, keys)).toMatchObject({ holds: true, notice });
    refused({ ...file, notice: `${notice} ` }, 'The notice is not the one', keys);
  });
});

describe('a time-stamp', () => {
  const stamped = (change: object) => ({ ...bundle, timestamp: { ...timestamp, ...change } });

  it('is led to from the checkpoint, and says how its signature is checked', () => {
    const verdict = holding(stamped({}));
    expect(verdict.timestamp).toMatchObject({ digest: timestampDigest, isOfProof: true });
    expect(opensslCommands(verdict, 'bundle.json').join('\n')).toContain(
      `openssl ts -verify -digest ${timestampDigest}`,
    );
    const bare = vector.checkpoint.slice(0, vector.checkpoint.indexOf('\n\n') + 1);
    expect(holding(stamped({ checkpoint: bare })).timestamp).toMatchObject({ isOfProof: true });
  });

  it.each<[string, object, string]>([
    ['another path', { path: [base64(new Uint8Array(32))] }, 'over something else'],
    ['a path too long', { path: [...timestamp.path, ...timestamp.path] }, 'does not fit'],
    ['a path that is none', { path: ['x'] }, 'not a SHA-256'],
    ['another place', { index: 1 }, 'over something else'],
    ['a place beyond the end', { index: 2 }, 'does not fit'],
    ['another token', { token: base64(utf8('another')) }, 'over something else'],
    ['a token that is none', { token: '!' }, 'not base64'],
    ['another checkpoint', { checkpoint: vector.checkpoint.replace('\n3\n', '\n2\n') }, 'over something else'],
    ['no checkpoint', { checkpoint: undefined }, '`checkpoint` is missing'],
  ])('with %s does not hold', (_, change, why) => {
    refused(stamped(change), why);
  });
});

describe('a proof file of any entry', () => {
  it.each([
    [vector.entries[0] ?? '', 'On 20 October 2025, 05:03 UTC, visitors of dom_test saw a notice for the first time.'],
    [vector.entries[1] ?? '', 'On 20 October 2025, 05:03 UTC, a visitor of dom_test chose by category.'],
    [
      (vector.entries[1] ?? '').replace('"gpc":true,', '"gpc":true,"bot":true,'),
      'On 20 October 2025, 05:03 UTC, a crawler or another program on dom_test chose by category.',
    ],
    [vector.entries[2] ?? '', 'On 1 November 2025, the personal fields of a record of dom_test were erased.'],
  ])('says what it is: %s', (entry, words) => {
    const { file, keys } = logOf(entry);
    const verdict = check(file, keys);
    expect(verdict.holds && headline(verdict)).toBe(words);
    expect(verdict.holds && factsOf(verdict)).toContainEqual(['Domain', 'dom_test']);
  });

  it.each([
    ['a/dom_test', true],
    ['a/dom_test/2', true],
    ['a/dom_test2', false],
    ['a/dom_x', false],
    ['a/dom_test/x', false],
  ])('of dom_test in the log %s holds: %s', (origin, holds) => {
    const { file, keys } = logOf(erasureEntry(vector.erasure), origin);
    expect(check(file, keys).holds).toBe(holds);
  });

  const [, , erasure = ''] = vector.entries;
  it.each([
    ['a key twice', erasure.replace(',"erasedOn"', ',"id":"y","erasedOn"')],
    ['a key more', erasure.replace('}', ',"z":1}')],
    ['another order', erasure.replace('"v":1,"type":"erasure"', '"type":"erasure","v":1')],
    ['white space', erasure.replace(',', ', ')],
    ['an escape that need not be', erasure.replace('dom_test', 'dom_\\u0074est')],
    ['another version', erasure.replace('"v":1', '"v":2')],
    ['another type', '{"v":1,"type":"x","domain":"dom_test"}'],
    ['a number for a text', erasure.replace(/"id":".*?"/, '"id":1')],
    ['no JSON', 'hello'],
  ])('is refused though signed where the entry has %s', (_, entry) => {
    expect(entry).not.toBe(erasure);
    const { file, keys } = logOf(entry);
    expect(check(file, keys)).toMatchObject({ holds: false });
  });
});
