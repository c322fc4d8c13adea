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
  /** in a folder of its own, with an empty environment */
  const verify = (...args: string[]) => runCliIn(folder, {}, 'log', 'verify', ...args);
  const key = ['--key', vector.verifierKey];

  it('says in words what a proof file proves, without stores, and reads no settings, even bad ones', async () => {
    const settings = { DATABASE_URL: 'nonsense', REDIS_URL: 'nonsense', JWT_SECRET: 'x', LOG_KEY: 'x' };
    const name = file('record.tlog-proof', vector.proof);
    const { code, stdout, stderr } = await runCliIn(folder, settings, 'log', 'verify', name, ...key);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^The proof holds\. A visitor of dom_test chose by category\.\n/);
    expect(stdout).toMatch(/^Decision +custom$/m);
    expect(stdout).toContain(`Signed by               ${vector.verifierKey}\n`);
    expect(stdout).toContain('What this does not prove:');
    expect(stdout).not.toContain('v-1');
  });

  it('also opens what a bundle holds, and says how its time-stamp is checked', async () => {
    const { code, stdout } = await verify(file('it is a bundle.json', { ...bundle, timestamp }), ...key);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Categories +9 denied, 10 allowed, analytics allowed$/m);
    expect(stdout).toMatch(/^Visitor +v-1$/m);
    expect(stdout).toContain(`  openssl ts -verify -digest ${timestampDigest} -in token.tsr`);
    expect(stdout).toContain("< 'it is a bundle.json' |");
  });

  it('prints one JSON object with --json, whether it holds or not', async () => {
    const holds = await verify(file('holds.json', bundle), ...key, '--json');
    expect(holds).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(holds.stdout)).toMatchObject({
      holds: true,
      log: vector.origin,
      position: 1,
      size: 3,
      signedBy: [vector.verifierKey],
      entry: { decision: 'custom' },
      circumstances: { language: 'de' },
      private: { visitorId: 'v-1' },
      unproven: [],
    });
    const changed = vector.proof.replace('index 1', 'index 0');
    const fails = await verify(file('fails.tlog-proof', changed), ...key, '--json');
    expect(fails).toMatchObject({ code: 1, stderr: '' });
    expect(JSON.parse(fails.stdout)).toEqual({
      kind: 'proof',
      holds: false,
      why: expect.stringContaining('does not have this entry at position 0'),
    });
  });

  it('exits 1 and says why where it does not hold', async () => {
    const record = { ...bundle.record, decision: 'accept_all' };
    const { code, stdout, stderr } = await verify(file('changed.json', { ...bundle, record }), ...key);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toBe(
      'changed.json does not hold: The record says that `decision` is "accept_all", but what the log committed to is "custom".\n',
    );
  });

  it("checks each record of a visitor's answer, with a line for all", async () => {
    const { record } = bundle;
    const changed = { ...record, decision: 'accept_all' };
    const answer = (records: object[]) => ({ visitorId: 'v-1', records, bundles: { [record.id]: bundle } });
    const good = await verify(file('visitor.json', answer([record])), ...key);
    expect(good).toMatchObject({ code: 0, stderr: '' });
    expect(good.stdout).toMatch(/^1 record of the visitor v-1: 1 holds\.\n/);
    expect(good.stdout).toContain(`${record.id}  holds: custom (9 denied, 10 allowed, analytics allowed) on dom_test`);
    expect(good.stdout).toContain('has all of their records is not proven');
    const bad = await verify(file('visitor.json', answer([changed])), ...key, '--json');
    expect(bad).toMatchObject({ code: 1, stderr: '' });
    expect(JSON.parse(bad.stdout)).toMatchObject({
      holds: false,
      kind: 'visitor',
      records: [{ id: record.id, holds: false, why: expect.stringContaining('`decision`') }],
    });
  });

  it('takes a checkpoint, and says of what is no proof that it is none', async () => {
    const { code, stdout } = await verify(file('checkpoint', vector.checkpoint), ...key);
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: expect.stringMatching(/^The checkpoint holds[\s\S]*\nSize +3 entries\n/),
    });
    const none = await verify(file('package.json', { name: 'x' }), ...key);
    expect(none).toMatchObject({ code: 1, stdout: '' });
    expect(none.stderr).toBe("package.json is not a proof: This JSON is neither a bundle nor a visitor's answer.\n");
    const huge = file('huge', '');
    truncateSync(path.join(folder, huge), 1024 ** 3);
    // the second one does not say how large it is, and has no end
    for (const each of [huge, '/dev/zero'])
      expect((await verify(each, ...key)).stderr).toBe(`${each} is not a proof: It is larger than any proof.\n`);
    expect(await verify(huge, '--key', '/dev/zero')).toMatchObject({ code: 1, stderr: '/dev/zero is too large\n' });
  });

  it('takes several keys, and files of them', async () => {
    const other = 'somebody.example+00000000+AQ==';
    const name = file('many.tlog-proof', vector.proof);
    const keys = file('keys', `${vector.verifierKey}\n\n${vector.verifierKey}\n`);
    expect((await verify(name, '--key', keys)).code).toBe(0);
    expect((await verify(name, ...key, '--key', keys)).code).toBe(0);
    expect(await verify(name, ...key, '--key', other)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('verifier key has 0 bytes'),
    });
    expect(await verify(name, '--key', file('empty', '\n'))).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('no verifier key in empty'),
    });
  });

  it.each([
    ['no key', ['x'], /--key/],
    ['no file', key, /file/],
    ['a file that is not there', ['gone', ...key], /^cannot read gone: .*ENOENT/],
    ['a key that is not there', ['x', '--key', 'gone'], /^cannot read gone: /],
  ])('tells %s in one line', async (_, args, says) => {
    file('x', vector.proof);
    const { code, stdout, stderr } = await verify(...args);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^[^\n]+\n$/);
    expect(stderr).toMatch(says);
  });
});
