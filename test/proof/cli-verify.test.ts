/** What `assent log verify` prints, and how it ends; what holds and what does not is tried in the unit tests beside it. */
import { mkdtempSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, inject, it } from 'vitest';
import { bundle, timestamp, timestampDigest } from '../support/log-bundle.ts';
import { vector } from '../support/log-vector.ts';
import { runCliIn } from '../support/run-cli.ts';

const folder = mkdtempSync(path.join(inject('folder'), 'verify-'));

describe('assent log verify', () => {
  /** a file below `folder`, and its name */
  const file = (name: string, content: string | object) => {
    writeFileSync(path.join(folder, name), typeof content === 'string' ? content : JSON.stringify(content));
    return name;
  };
  const key = ['--key', vector.verifierKey];
  /** without stores, and with settings that are all wrong, since it reads none */
  const verify = (...args: string[]) =>
    runCliIn(folder, { DATABASE_URL: 'nonsense', JWT_SECRET: 'x', LOG_KEY: 'x' }, 'log', 'verify', ...args);
  const verifyJson = async (...args: string[]) => {
    const { code, stdout, stderr } = await verify(...args, ...key, '--json');
    expect(stderr).toBe('');
    return { code, ...JSON.parse(stdout) };
  };
  const { record } = bundle;
  const changed = { ...record, decision: 'accept_all' };
  const response = (records: object[]) => ({ visitorId: 'v-1', records, bundles: { [record.id]: bundle } });

  it('says in words what a file proves', async () => {
    const proof = await verify(file('record.tlog-proof', vector.proof), ...key);
    expect(proof).toMatchObject({ code: 0, stderr: '' });
    expect(proof.stdout).toMatch(
      /^The proof holds\. On 20 October 2025, 05:03 UTC, a visitor of dom_test chose by category\.\n[\s\S]*\nDecision +custom\n/,
    );
    expect(proof.stdout).toContain(`Signed by               ${vector.verifierKey}\n`);
    expect(proof.stdout).toContain('What this does not prove:');
    expect(proof.stdout).not.toContain('v-1');
    const opened = await verify(file('it is a bundle.json', { ...bundle, timestamp }), ...key);
    expect(opened.stdout).toMatch(/\nVisitor +v-1\n/);
    expect(opened.stdout).toContain(`  openssl ts -verify -digest ${timestampDigest} -in token.tsr`);
    expect(opened.stdout).toContain("< 'it is a bundle.json' |");
    const visitor = await verify(file('visitor.json', response([record])), ...key);
    expect(visitor).toMatchObject({ code: 0, stderr: '' });
    expect(visitor.stdout).toMatch(/^1 record of the visitor v-1: 1 holds\.\n/);
    expect(visitor.stdout).toContain(`${record.id}  holds: On 20 October 2025, 05:03 UTC, a visitor of shop.example`);
    expect(visitor.stdout).toContain("has all of the visitor's records");
    const checkpoint = await verify(file('checkpoint', vector.checkpoint), ...key);
    expect(checkpoint.stdout).toMatch(/^The checkpoint holds[\s\S]*\nSize +3 entries\n/);
  });

  it('prints one JSON object with --json, and exits 1 where something does not hold', async () => {
    expect(await verifyJson(file('holds.json', bundle))).toMatchObject({
      ...{ code: 0, holds: true, log: vector.origin, position: 1, size: 3, signedBy: [vector.verifierKey] },
      entry: { decision: 'custom' },
      circumstances: { language: 'de' },
      private: { visitorId: 'v-1' },
      unproven: [],
    });
    const why = expect.stringContaining('does not have this entry at position 0');
    const fails = file('fails.tlog-proof', vector.proof.replace('index 1', 'index 0'));
    expect(await verifyJson(fails)).toEqual({ code: 1, kind: 'proof', holds: false, why });
    expect(await verifyJson(file('visitor.json', response([changed])))).toMatchObject({
      ...{ code: 1, holds: false, kind: 'visitor' },
      records: [{ id: record.id, holds: false, why: expect.stringContaining('`decision`') }],
    });
  });

  it('takes several keys, and files of them', async () => {
    const name = file('many.tlog-proof', vector.proof);
    const keys = file('keys', `${vector.verifierKey}\n\n${vector.verifierKey}\n`);
    expect((await verify(name, ...key, '--key', keys)).code).toBe(0);
  });

  const huge = file('huge', '');
  truncateSync(path.join(folder, huge), 1024 ** 3);
  it.each<[string, string[], string | RegExp]>([
    [
      'a file that does not hold',
      [file('changed.json', { ...bundle, record: changed }), ...key],
      /^changed.json does not hold: The record says that `decision` is "accept_all", but what the log committed/,
    ],
    [
      'a file of something else',
      [file('package.json', { name: 'x' }), ...key],
      /^package.json is not a proof: This JSON/,
    ],
    ['a file that is too large', [huge, ...key], 'huge is not a proof: It is larger than any proof.\n'],
    // it does not say how large it is, and has no end
    ['a key that is too large', [huge, '--key', '/dev/zero'], '/dev/zero is too large\n'],
    ['no key', ['x'], /--key/],
    ['no file', key, /file/],
    ['a file that is not there', ['gone', ...key], /^cannot read gone: .*ENOENT/],
    ['a key that is not there', ['huge', '--key', 'gone'], /^cannot read gone: /],
    ['a key cut short', ['x', '--key', 'somebody.example+00000000+AQ=='], /verifier key has 0 bytes/],
    ['a file of no key', ['x', '--key', file('empty', '\n')], /no verifier key in empty/],
  ])('exits 1 and tells %s in one line', async (_, args, says) => {
    const { code, stdout, stderr } = await verify(...args);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^[^\n]+\n$/);
    expect(stderr).toMatch(says);
  });
});
