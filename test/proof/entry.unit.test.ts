import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { base64url, concat, utf8 } from '#libs/proof/tree/bytes';
import {
  circumstancesText,
  commitment,
  erasureEntry,
  noticeEntry,
  privateText,
  recordEntry,
  type SealedRecord,
  textLeafHash,
} from '#libs/proof/tree/entry';
import { leafHash } from '#libs/proof/tree/hash';
import { newRecord } from '#libs/record/contract';
import { sha256 } from '../support/log-vector.ts';

const commitments = { circumstances: 'c', private: 'p' };
const maybe = <T>(value: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 3, arbitrary: value }, fc.constantFrom(null, undefined));
const text = maybe(fc.string({ unit: 'binary' }));
const names = fc.string({ unit: fc.constantFrom(...'019aAzZ_.:-'), minLength: 1, maxLength: 4 });

/** Fields of one kind, by their names. */
const fields = <Name extends string, T>(kind: fc.Arbitrary<T>, ...names: Name[]) =>
  fc
    .tuple(...names.map(() => kind))
    .map((values) => Object.fromEntries(names.map((name, at) => [name, values[at]])) as Record<Name, T>);
const value = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.boolean(),
);
const record = fc
  .tuple(
    fields(fc.string(), 'id', 'domainId', 'decision', 'decidedAt', 'receivedAt', 'source'),
    fields(text, 'importedAt', 'notice', 'bannerVersion', 'policyVersion', 'language', 'country', 'variant'),
    fields(text, 'tcString', 'gppString', 'region', 'model', 'visitorId', 'ip', 'userAgent', 'pageUrl'),
    fields(maybe(fc.boolean()), 'gpc', 'bot'),
    fields(maybe(fc.dictionary(names, fc.boolean())), 'preferences'),
    fields(maybe(fc.dictionary(names, value)), 'metadata'),
  )
  .map(([one, two, three, four, five, six]) => ({ ...one, ...two, ...three, ...four, ...five, ...six }));

/** What is not null, in the order of its names, by the obvious way. */
const plainly = (fields: [string, unknown][]) =>
  `{${fields
    .filter(([, value]) => value !== null && value !== undefined)
    .map(
      ([name, value]) =>
        `${JSON.stringify(name)}:${typeof value === 'object' ? byCodeUnit(value ?? {}) : JSON.stringify(value)}`,
    )
    .join(',')}}`;
const byCodeUnit = (map: object): string =>
  plainly(Object.entries(map).sort(([one], [other]) => (one < other ? -1 : 1)));

describe('the texts of a record', () => {
  it('have every field that is stored of it', () => {
    // the time of the decision is in the id, and a request's own id is not stored
    const fields = Object.keys(newRecord.shape).filter((name) => name !== 'requestId');
    const whole = Object.fromEntries(fields.map((name) => [name, name === 'gpc' || name === 'bot' ? true : 'x']));
    const one = { ...whole, preferences: { a: true }, metadata: { a: 1 } } as unknown as SealedRecord;
    const texts = recordEntry(one, commitments) + circumstancesText(one) + privateText(one);
    const nameOf = (field: string) => (field === 'domainId' ? 'domain' : field);
    expect(fields.filter((field) => !texts.includes(`"${nameOf(field)}":`))).toEqual([]);
  });

  it('hold what is there, in order, as JSON.stringify writes it', () => {
    fc.assert(
      fc.property(record, ({ id, domainId, bot, ...one }) => {
        const of = (...names: (keyof typeof one)[]): [string, unknown][] => names.map((name) => [name, one[name]]);
        const texts = of('bannerVersion', 'policyVersion', 'language', 'country', 'variant', 'tcString', 'gppString');
        const places = of('region', 'model');
        expect(circumstancesText(one)).toBe(plainly([...of('preferences'), ...texts, ...places]));
        expect(privateText(one)).toBe(plainly(of('visitorId', 'ip', 'userAgent', 'pageUrl', 'metadata')));
        expect(recordEntry({ ...one, id, domainId, bot }, commitments)).toBe(
          plainly([
            ...Object.entries({ v: 1, type: 'record', id, domain: domainId }),
            ...of('decision', 'decidedAt', 'receivedAt', 'importedAt', 'source', 'notice', 'gpc'),
            ...Object.entries({ bot: bot || null, ...commitments }),
          ]),
        );
      }),
    );
    expect([circumstancesText({}), privateText({ visitorId: null, metadata: null })]).toEqual(['{}', '{}']);
  });

  it('of notices and erasures escape what JSON escapes', () => {
    const odd = 'a"\\\n\u2028\u007fä😀';
    expect(noticeEntry({ domainId: odd, notice: odd, firstSeenAt: odd })).toBe(
      JSON.stringify({ v: 1, type: 'notice', domain: odd, notice: odd, firstSeenAt: odd }),
    );
    expect(erasureEntry({ domainId: odd, id: odd, erasedOn: odd })).toBe(
      JSON.stringify({ v: 1, type: 'erasure', domain: odd, id: odd, erasedOn: odd }),
    );
  });
});

describe('hashes of texts', () => {
  it('are those of their UTF-8, in whatever order long and short ones come', () => {
    const texts = fc.array(fc.string({ unit: 'binary', maxLength: 3_000, size: 'max' }), { maxLength: 5 });
    fc.assert(
      fc.property(texts, fc.uint8Array({ minLength: 16, maxLength: 16 }), (all, salt) => {
        for (const text of all) {
          expect(textLeafHash(sha256, text)).toEqual(leafHash(sha256, utf8(text)));
          expect(commitment(sha256, salt, text)).toBe(base64url(sha256(concat(salt, utf8(text)))));
        }
      }),
    );
  });
});
