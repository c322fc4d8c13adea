/** Exports on the command line: the same text as over HTTP. */
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import path from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { describe, expect, inject, it } from 'vitest';
import type { Imported } from '#libs/log/import/contract';
import { persist } from '#libs/record/persist/persist';
import { createCli } from '../support/cli.ts';
import { recordAt } from '../support/records.ts';
import { at, useStack } from '../support/stack.ts';
import { makeTenant } from '../support/stores.ts';

const stack = await useStack({ tenant: { domains: 2 } });
const cli = createCli({ ...stack.env });
const folder = mkdtempSync(path.join(inject('folder'), 'exports-'));
const records = stack.tenant.domainIds.flatMap((domainId) =>
  Array.from({ length: 600 }, (_, each) =>
    recordAt(Date.now() - each * 1_000, { domainId, visitorId: `visitor ${each % 7}` }),
  ),
);
await persist(stack.db, records, { owe: true });
const ids = records.flatMap(({ id, domainId }) => (domainId === stack.domainId ? [id] : [])).toSorted();

describe('assent records export', () => {
  const file = (name: string) => path.join(folder, name);
  const overHttp = async (pathname: string) => (await stack.client.get<string>(pathname)).body;

  it('writes what the API answers, to standard output or a file', async () => {
    const { domainId, tenant } = stack;
    const csv = await cli.run('records', 'export', '--domain', domainId, '--format', 'csv', '--visitor', 'visitor 3');
    expect(csv).toEqual({
      code: 0,
      stderr: '',
      stdout: await overHttp(`/v1/consent/${domainId}/export?format=csv&visitorId=visitor%203`),
    });
    const out = file('all.ndjson');
    const result = await cli.json('records', 'export', '--org', tenant.organizationId, '--out', out);
    expect(result).toEqual({ records: 1_200, last: expect.stringMatching(/^dom_\w+\/[0-9a-f-]{36}$/) });
    expect(readFileSync(out, 'utf8')).toBe(await overHttp('/v1/organization/export'));
    const ofUser = ['acts', '--org', tenant.organizationId, '--act', 'records.export', '--actor', userInfo().username];
    expect((await cli.json<{ acts: object[] }>(...ofUser)).acts).toHaveLength(2);
  });

  it('of an organization with one domain continues after the place that it printed', async () => {
    const tenant = await makeTenant(stack.db);
    const domainId = at(tenant.domainIds, 0);
    await persist(stack.db, [recordAt(Date.now(), { domainId })]);
    const args = ['records', 'export', '--org', tenant.organizationId, '--out', file('one.ndjson')];
    const { last } = await cli.json<{ last: string }>(...args);
    expect(await cli.json(...args, '--after', last)).toEqual({ records: 0, last: null });
  });

  it.each(['org', 'domain'] as const)('of the %s that was cut off goes on in its file', async (what) => {
    const { domainId, tenant } = stack;
    const [id, format, target] = {
      org: [tenant.organizationId, 'ndjson', '/v1/organization/export'] as const,
      domain: [domainId, 'csv', `/v1/consent/${domainId}/export?format=csv`] as const,
    }[what];
    const whole = await overHttp(target);
    const cut = file(`cut.${format}`);
    writeFileSync(cut, whole.slice(0, whole.length * 0.7));
    const args = ['records', 'export', `--${what}`, id, '--format', format, '--out', cut, '--continue'];
    await cli.json(...args);
    expect(await cli.json(...args)).toEqual({ records: 0, last: null });
    expect(readFileSync(cut, 'utf8') === whole).toBe(true);
  });

  it('gzips a file that is called .gz, and what is added to it', async () => {
    const { domainId } = stack;
    const out = file('all.csv.gz');
    const args = ['records', 'export', '--domain', domainId, '--format', 'csv', '--out', out];
    await cli.json(...args);
    const whole = await overHttp(`/v1/consent/${domainId}/export?format=csv`);
    expect(gunzipSync(readFileSync(out)).toString()).toBe(whole);
    const place = at(ids, 400);
    writeFileSync(out, gzipSync(whole.slice(0, whole.indexOf('\r\n', whole.indexOf(place)) + 2)));
    await cli.json(...args, '--after', place);
    expect(gunzipSync(readFileSync(out)).toString()).toBe(whole);
    // and such a file can be imported
    const { read, known } = await cli.json<Imported>('records', 'import', out, '--domain', domainId, '--dry-run');
    expect([read, known]).toEqual([600, 600]);
    expect(await cli.error(...args, '--continue')).toMatch(/^--continue cannot look into a \.gz file/);
  });

  it('says in one line what is wrong', async () => {
    const { domainId } = stack;
    expect(await cli.error('records', 'export')).toBe('give either --org or --domain');
    expect(await cli.error('records', 'export', '--domain', 'dom_unknown')).toBe('no domain dom_unknown');
    expect(await cli.error('records', 'export', '--org', 'org_unknown')).toBe('no organization org_unknown');
    expect(await cli.error('records', 'export', '--domain', domainId, '--from', 'x')).toMatch(
      /^--from: must be a real/,
    );
    expect(await cli.error('records', 'export', '--domain', domainId, '--after', 'x')).toMatch(
      /^--after: must be the id/,
    );
    expect(await cli.error('records', 'export', '--domain', domainId, '--format', 'xml')).toMatch(/ndjson, csv/);
    writeFileSync(file('there'), '');
    expect(await cli.error('records', 'export', '--domain', domainId, '--out', file('there'))).toMatch(/exists$/);
    expect(await cli.error('records', 'export', '--domain', domainId, '--out', file('no/such'))).toMatch(/ENOENT/);
  });
});
