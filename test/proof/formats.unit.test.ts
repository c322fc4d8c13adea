import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { base64, base64url, concat, equal, fromBase64, fromHex, fromUtf8, hex, utf8 } from '#libs/proof/tree/bytes';
import { parseCheckpoint } from '#libs/proof/tree/checkpoint';
import { formatNote, signatureLine } from '#libs/proof/tree/note';
import { formatTilePath, packBundle, parseTilePath, widthAt } from '#libs/proof/tree/tlog-tiles';
import { parseVerifierKey, verifierKey } from '#libs/proof/tree/verifier-key';
import { logKey, sha256, vector, verifyEd25519 } from '../support/log-vector.ts';
import { unpackBundle, verifyNote } from '../support/proof-checks.ts';

const bytes = fc.uint8Array({ maxLength: 100 });

describe('bytes', () => {
  it('are written as Node writes them, and read back', () => {
    fc.assert(
      fc.property(bytes, bytes, (one, other) => {
        const buffer = Buffer.from(one);
        expect(hex(one)).toBe(buffer.toString('hex'));
        expect(base64(one)).toBe(buffer.toString('base64'));
        expect(base64url(one)).toBe(buffer.toString('base64url'));
        expect(fromHex(hex(one))).toEqual(one);
        expect(fromBase64(base64(one))).toEqual(one);
        expect(concat(one, other)).toEqual(new Uint8Array(Buffer.concat([one, other])));
        expect(equal(one, other)).toBe(buffer.equals(other));
      }),
    );
  });

  it('are not read from base64 that is not canonical, or from other digits than pairs of lowercase ones', () => {
    const base64s = ['AA', 'AA=', 'AB==', 'AAB=', 'AA==\n', ' AA==', 'A A=', 'AA-_', '====', '=', 'AA==AA==', 'ÄÄ=='];
    expect(base64s.filter((text) => fromBase64(text))).toEqual([]);
    expect(['a', 'AB', '0g', 'ab\n', ' ab'].filter((text) => fromHex(text))).toEqual([]);
  });

  it('that are not UTF-8 are no text, and a byte order mark stays', () => {
    expect(fromUtf8(Uint8Array.of(0xff))).toBeUndefined();
    expect(fromUtf8(Uint8Array.of(0xc3))).toBeUndefined();
    expect(fromUtf8(utf8('\ufeffä'))).toBe('\ufeffä');
  });
});

describe('the path of a tile', () => {
  it.each([
    ['0/000', { level: 0, index: 0, width: 256 }],
    ['0/x001/x234/067', { level: 0, index: 1_234_067, width: 256 }],
    ['63/x001/000.p/1', { level: 63, index: 1000, width: 1 }],
    ['entries/999.p/255', { level: 'entries', index: 999, width: 255 }],
    ['2/x009/x007/x199/x254/x740/991', { level: 2, index: Number.MAX_SAFE_INTEGER, width: 256 }],
  ] as const)('%s', (path, tile) => {
    expect(formatTilePath(tile)).toBe(path);
    expect(parseTilePath(path)).toEqual(tile);
  });

  it('reads what it writes', () => {
    const level = fc.oneof(fc.constant('entries' as const), fc.nat(63));
    fc.assert(
      fc.property(level, fc.maxSafeNat(), fc.integer({ min: 1, max: 256 }), (level, index, width) => {
        const tile = { level, index, width };
        expect(parseTilePath(formatTilePath(tile as Parameters<typeof formatTilePath>[0]))).toEqual(tile);
      }),
    );
  });

  it.each([
    ['part of it', '', '0', '0/', '/000', '0/000/', '0//000', '0/x001', '0/x001/x002'],
    ['other digits', '0/0', '0/0000', '0/0 0', '0/٠٠٠', '0/%30%30%30', 'entries/0', '0/X001/002'],
    ['another level', '00/000', '01/000', '64/000', '-1/000', 'x/000', 'Entries/000', 'data/000'],
    ['another number', '0/x000/001', '0/001/002', '0/x009/x007/x199/x254/x740/992', `0${'/x000'.repeat(6)}/000`],
    ['another width', '0/000.p/0', '0/000.p/01', '0/000.p/256', '0/000.p/257', '0/000.p/', '0/000.p', '0/000.P/1'],
    ['more around it', '/0/000', 'tile/0/000', '0/000?', '0/000\n', ' 0/000'],
  ])('is refused where it is %s', (_, ...paths) => {
    expect(paths.filter((path) => parseTilePath(path) !== undefined)).toEqual([]);
  });

  it('goes with the width that the tile has in a tree of that size', () => {
    expect([widthAt(0, 0, 0), widthAt(0, 0, 255), widthAt('entries', 1, 300)]).toEqual([0, 255, 44]);
    expect([widthAt(1, 0, 65_535), widthAt(1, 0, 65_536), widthAt(1, 1, 65_536)]).toEqual([255, 256, 0]);
    expect([widthAt(6, 15, 2 ** 52 + 2 ** 48), widthAt(6, 0, 2 ** 52 + 2 ** 48)]).toEqual([0, 17]);
  });
});

describe('an entry bundle', () => {
  it('gives back its entries', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 600 }), { maxLength: 8 }), (entries) => {
        const bundle = packBundle(entries);
        expect(bundle).toHaveLength(entries.reduce((sum, entry) => sum + entry.length + 2, 0));
        expect(unpackBundle(bundle)).toEqual(entries);
      }),
    );
    expect(unpackBundle(packBundle([new Uint8Array(65_535)]))).toEqual([new Uint8Array(65_535)]);
    expect(() => packBundle([new Uint8Array(65_536)])).toThrow(RangeError);
  });
});

describe('a verifier key', () => {
  const [name, id, key] = ['consent.example.com/dom_test', '8be9801a', 'Acdy00UP5w58pW3zXEyqOxe6hU9OGXQpbyrJprWwFt85'];

  it.each([
    ['', 'looks like this'],
    [`${name}+${id}`, 'looks like this'],
    [`+${id}+${key}`, 'name is empty'],
    [`a b+${id}+${key}`, 'white space'],
    [`${name}\n+${id}+${key}`, 'white space'],
    [`${name}+8BE9801A+${key}`, '8 lowercase hex digits'],
    [`${name}+8be980+${key}`, '8 lowercase hex digits'],
    [`${name}+${id}+${key}\n`, 'not base64'],
    [`${name}+${id}+${key.slice(0, -1)}`, 'not base64'],
    [`${name}+${id}+${key.slice(0, -4)}`, '29 bytes'],
    [`${name}+${id}+A${'A'.repeat(43)}`, 'Ed25519'],
    [`${name}+8be9801b+${key}`, 'does not fit'],
    [`${name}2+${id}+${key}`, 'does not fit'],
    [`${name}+${id}+${key.slice(0, -1)}6`, 'does not fit'],
  ])('that is wrong is refused and says why: %j', (text, why) => {
    expect(() => parseVerifierKey(sha256, text)).toThrow(why);
  });
});

describe('a signed note', () => {
  const { origin } = vector;
  const key = parseVerifierKey(sha256, vector.verifierKey);
  const { sign } = logKey(vector.logKey, origin);
  const text = 'a text\n\nof three lines\n';
  const ours = { name: origin, keyId: key.id, signature: sign(text) };
  const note = formatNote(text, [ours]);
  const stranger = signatureLine('somebody.example', Uint8Array.of(1, 2, 3, 4), new Uint8Array(64));
  const check = (changed: string) => verifyNote(changed, [key], verifyEd25519);

  it('holds, its text ending before the last empty line', () => {
    expect(check(note)).toEqual({ holds: true, text, signers: [key] });
  });

  it('holds with signatures that nobody knows, before and after, of our name or our id too', () => {
    const sameName = signatureLine(origin, Uint8Array.of(1, 2, 3, 4), new Uint8Array(64));
    const sameId = signatureLine('somebody.example', key.id, new Uint8Array(1));
    const line = signatureLine(origin, key.id, ours.signature);
    for (const lines of [stranger + line, line + stranger, sameName + line, line + sameId]) {
      expect(check(`${text}\n${lines}`)).toMatchObject({ holds: true, signers: [key] });
    }
  });

  it('names all of the given keys that signed it', () => {
    const next = logKey('ff'.repeat(32), origin);
    const nextKey = verifierKey(sha256, origin, next.publicKey);
    const both = formatNote(text, [{ name: origin, keyId: nextKey.id, signature: next.sign(text) }, ours]);
    expect(verifyNote(both, [key, nextKey], verifyEd25519)).toEqual({ holds: true, text, signers: [nextKey, key] });
    expect(verifyNote(both, [key], verifyEd25519)).toEqual({ holds: true, text, signers: [key] });
  });

  it('falls with one wrong signature of a known key, though another one holds', () => {
    const wrong = signatureLine(origin, key.id, ours.signature.with(0, (ours.signature[0] ?? 0) ^ 1));
    expect(check(note + wrong)).toMatchObject({ holds: false, why: expect.stringContaining('is wrong') });
    expect(check(note + signatureLine(origin, key.id, Uint8Array.of(1)))).toMatchObject({ holds: false });
  });

  it.each([
    ['\r\n line ends', note.replaceAll('\n', '\r\n'), 'carriage returns'],
    ['a tab', note.replace('a text', 'a\ttext'), 'control characters'],
    ['a NUL', note.replace('a text', 'a\0text'), 'control characters'],
    ['half a surrogate pair', note.replace('a text', 'a \ud800'), 'well-formed'],
    ['no newline at the end', note.slice(0, -1), 'cut off'],
    ['no empty line', `of three lines\n${stranger}`, 'no empty line'],
    ['nothing signed', `\n${stranger}`, 'no empty line'],
    ['no signature', `${text}\n`, 'no signature'],
    ['a hyphen for a dash', note.replace('—', '-'), 'should be a signature'],
    ['two spaces', note.replace(`— ${origin}`, `—  ${origin}`), 'should be a signature'],
    ['a space at the end', note.replace(/\n$/, ' \n'), 'should be a signature'],
    ['a plus in a name', note + stranger.replace('somebody', 'some+body'), 'should be a signature'],
    ['a stranger who cannot write base64', `${note}— somebody.example AAAAAAB=\n`, 'canonical base64'],
    ['a signature of nothing', `${note}— somebody.example AAAAAA==\n`, 'too short'],
    ['too many signatures', note + stranger.repeat(100), 'more than 100'],
    ['another text', note.replace('a text', 'A text'), 'is wrong'],
    ['strangers only', `${text}\n${stranger}`, 'signed by somebody.example'],
    ['another key of that name', formatNote(text, [{ ...ours, keyId: Uint8Array.of(1, 2, 3, 4) }]), 'another key'],
  ])('with %s is refused and says why', (_, changed, why) => {
    expect(changed).not.toBe(note);
    expect(check(changed)).toEqual({ holds: false, why: expect.stringContaining(why) });
  });
});

describe('a checkpoint', () => {
  const root = base64(new Uint8Array(32));

  it('may have lines that we do not know', () => {
    expect(parseCheckpoint(`o\n9007199254740991\n${root}\nmore\n`).size).toBe(Number.MAX_SAFE_INTEGER);
  });

  const max = '9007199254740992';
  it.each([
    ['no line end', `o\n1\n${root}`, `o\n1\n${root}\nmore`],
    ['a line that is missing or empty', 'o\n1\n', `\n1\n${root}\n`, `o\n\n${root}\n`, `o\n1\n${root}\n\n`],
    ['an empty line in between', `o\n1\n${root}\n\nmore\n`],
    ['another size', `o\n01\n${root}\n`, `o\n-1\n${root}\n`, `o\n1e3\n${root}\n`, `o\n${max}\n${root}\n`],
    ['another hash', 'o\n1\nAAAA\n', `o\n1\n${root.slice(0, -1)}\n`],
  ])('is refused with %s', (_, ...texts) => {
    for (const text of texts) expect(() => parseCheckpoint(text), text).toThrow('The checkpoint');
  });
});
