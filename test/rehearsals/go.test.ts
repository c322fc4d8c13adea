/** docs/verify.go: Go's own library for transparency logs checks what the service gives, by the commands of docs/proof.md. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, inject, it } from 'vitest';
import type { Visitor } from '#libs/privacy/contract';
import { findProgram } from '../../scripts/stack/packages.ts';
import { root } from '../../scripts/stack/paths.ts';
import { request, tokenFor } from '../support/client.ts';
import { blocksOf } from '../support/documents.ts';
import { recordAt } from '../support/records.ts';
import { createSealer } from '../support/sealing.ts';
import { at, startStack, storeRecords } from '../support/stack.ts';
import { openRedis } from '../support/stores.ts';

const documented = blocksOf('docs/proof.md').find(({ text }) => text.includes('go run docs/verify.go'));
const commands = (documented?.text ?? '').trim().split('\n');
const gopath = '/usr/share/gocode';

const go = await findProgram({
  names: ['go'],
  packages: ['golang-go', 'golang-golang-x-mod-dev'],
  version: 'version',
});
const folder = mkdtempSync(path.join(inject('folder'), 'go-'));
mkdirSync(path.join(folder, 'cache'));

/** As it stands in the document, in a folder of its own. */
function run(command: string) {
  const script = command
    .replace(gopath, path.join(go.folder ?? '', gopath))
    .replace('docs/verify.go', path.join(root, 'docs/verify.go'));
  const env = {
    ...go.env,
    PATH: `${path.dirname(go.binary)}:${process.env.PATH}`,
    GOCACHE: path.join(folder, 'cache'),
    CGO_ENABLED: '0',
  };
  const { status, stdout, stderr } = spawnSync('/bin/sh', ['-c', script], { cwd: folder, env, encoding: 'utf8' });
  return { status, output: stdout + stderr };
}

const stack = await startStack({ worker: false, tenant: { domains: 2 } });
const sealer = createSealer(stack.db, await openRedis(stack.redis.url));
const now = Date.now();
const made = (visitorId: string, domainId: string, ago: number) =>
  recordAt(now - ago, {
    domainId,
    visitorId,
    decision: ago % 2 === 0 ? 'custom' : 'withdraw',
    preferences: { analytics: true, 10: false },
    language: 'de',
    userAgent: 'Example/1.0 "quoted" ☂',
    metadata: { b: 'x', a: 1.5 },
  });
const [one = '', other = ''] = stack.tenant.domainIds;
await storeRecords(stack, [
  ...[10, 11, 12].map((ago) => made('v-1', one, ago)),
  ...[20, 21].map((ago) => made('v-1', other, ago)),
  ...[30, 31, 32].map((ago) => made('v-2', one, ago)),
]);
await sealer.closeAndSeal();

describe('Go’s own library', () => {
  const ask = async (visitorId: string): Promise<Visitor> => {
    const headers = { authorization: `Bearer ${tokenFor(stack.tenant.organizationId, { scope: 'privacy' })}` };
    return (await request<Visitor>(stack.api.baseUrl, `/v1/organization/visitors/${visitorId}`, { headers })).body;
  };
  const write = (name: string, content: string) => writeFileSync(path.join(folder, name), content);
  const [proofFile = '', download = ''] = commands;

  it('accepts the proof file of a record', async () => {
    const { records, proofs, verifierKeys } = await ask('v-1');
    write('proof.txt', proofs[at(records, 0).id] ?? '');
    write('key.txt', Object.values(verifierKeys).flat().join('\n'));
    expect(run(proofFile)).toMatchObject({ status: 0, output: expect.stringContaining('{"v":1,"type":"record"') });
  });

  it('accepts each record of a visitor’s download, of all domains, and names each that is not as it was sealed', async () => {
    const response = await ask('v-1');
    write('key.txt', Object.values(response.verifierKeys).flat().join('\n'));
    write('visitor.json', JSON.stringify(response));
    const whole = run(download);
    expect(whole).toMatchObject({
      status: 0,
      output: expect.stringContaining('5 of 5 records of the visitor v-1 hold\n'),
    });
    for (const { id } of response.records) expect(whole.output).toContain(`${id}: holds, `);

    const [first, second, third, fourth] = response.records;
    const { proofs, bundles, records } = await ask('v-2');
    const foreign = { ...at(records, 0), visitorId: 'v-1' };
    const changed = {
      ...response,
      records: [
        { ...first, decision: 'accept_all' },
        second,
        { ...third, preferences: { analytics: false, 10: false } },
        { ...fourth, id: 'new' },
        foreign,
      ],
      proofs: { ...response.proofs, [foreign.id]: proofs[foreign.id] },
      bundles: { ...response.bundles, [foreign.id]: bundles[foreign.id] },
    };
    const { opening, ...bundle } = bundles[foreign.id] ?? expect.fail('no bundle');
    const erased = { [foreign.id]: { ...bundle, opening: { ...opening, private: null } } };
    write('visitor.json', JSON.stringify({ ...changed, bundles: { ...changed.bundles, ...erased } }));
    expect(run(download).output).toContain(`${foreign.id}: no proof, its personal fields are erased`);
    write('visitor.json', JSON.stringify(changed));
    const { status, output } = run(download);
    expect(status).not.toBe(0);
    expect(output).toContain(`${first?.id}: does not hold: the log has {`);
    expect(output).toContain(`${second?.id}: holds, `);
    expect(output).toContain(
      `${third?.id}: does not hold: the log committed to the categories map[10:false analytics:true]`,
    );
    expect(output).toContain('new: no proof, it was not sealed yet');
    expect(output).toContain(`${foreign.id}: does not hold: it is a record of another visitor, v-2`);
    expect(output).toContain('1 of 5 records of the visitor v-1 hold\n');
  });
});
