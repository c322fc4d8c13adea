import { createHash } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, inject, it } from 'vitest';
import { createCli } from '../support/cli.ts';
import { useStack } from '../support/stack.ts';
import { eventually } from '../support/wait.ts';

const document = '{ "language": "de", "version": "7",\n  "title": "Käse \u009b31m" }';
const hash = createHash('sha256').update(document).digest('hex');

const stack = await useStack();
const cli = createCli(stack.env);
const folder = mkdtempSync(path.join(inject('folder'), 'notices-'));

describe('assent notice', () => {
  const file = (name: string, text: string) => {
    const written = path.join(folder, name);
    writeFileSync(written, text);
    return written;
  };

  it('puts a document once, lists it and shows it byte for byte; the API knows it within a second', async () => {
    const { domainId } = stack;
    const wanted = async () =>
      (await stack.client.record(domainId, stack.apiKey, { decision: 'custom', notice: hash })).body.notice;
    expect(await wanted()).toBe('wanted');
    const written = file('notice.json', document);
    const put = () => cli.json<object>('notice', 'put', domainId, written);
    expect([await put(), await put()]).toEqual([
      { domainId, notice: hash, known: false },
      { domainId, notice: hash, known: true },
    ]);
    await eventually(async () => expect(await wanted()).toBeUndefined());
    const { notices } = await cli.json<{ notices: object[] }>('notice', 'list', domainId);
    // those that name it count once their epoch is closed
    const counted = { firstSeenAt: expect.any(String), records: expect.any(Number) };
    expect(notices).toEqual([{ notice: hash, language: 'de', version: '7', variant: null, model: null, ...counted }]);
    expect(await cli.json('notice', 'show', domainId, hash)).toEqual({ domainId, notice: hash, document });
    expect((await cli.run('notice', 'show', domainId, hash)).stdout).toBe(document);
    const { acts } = await cli.json<{ acts: { act: string; subject: string; details: object }[] }>('acts');
    expect(acts.filter(({ act, subject }) => act === 'notice.put' && subject === domainId)).toEqual([
      expect.objectContaining({ details: { notice: hash } }),
    ]);
  });

  it('says in one line what is wrong', async () => {
    const { domainId } = stack;
    expect(await cli.error('notice', 'put', domainId, file('list.json', '[]'))).toMatch(/must be a JSON object/);
    const large = file('large.json', ' '.repeat(17 * 1024));
    expect(await cli.error('notice', 'put', domainId, large)).toMatch(/16384 bytes/);
    expect(await cli.error('notice', 'put', domainId, path.join(folder, 'none'))).toMatch(/cannot read/);
    expect(await cli.error('notice', 'list', 'dom_unknown')).toBe('no domain dom_unknown');
    expect(await cli.error('notice', 'show', domainId, '0'.repeat(64))).toMatch(/has no notice/);
    expect(await cli.error('notice', 'show', domainId, 'x')).toMatch(/64 hex digits/);
  });
});
