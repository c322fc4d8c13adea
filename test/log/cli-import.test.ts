import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, inject, it } from 'vitest';
import { readPage } from '#libs/log/domain-page';
import type { Imported } from '#libs/log/import/contract';
import { createCli } from '../support/cli.ts';
import { at, useStack } from '../support/stack.ts';
import { eventually } from '../support/wait.ts';

const stack = await useStack({ tenant: { domains: 4 } });
const cli = createCli(stack.env);
const folder = mkdtempSync(path.join(inject('folder'), 'import-'));

describe('records import', () => {
  const fileOf = (name: string, text: string): string => {
    const file = path.join(folder, name);
    writeFileSync(file, text);
    return file;
  };
  const recordsOf = async (domainId: string) => {
    const { organizationId } = stack.tenant;
    return (await stack.db.run((sql) => readPage(sql, { organizationId, domainId, limit: 100, offset: 0 }))).records;
  };

  it('takes columns and values as they are called elsewhere, lists what it refused, and adds nothing again', async () => {
    const domainId = at(stack.tenant.domainIds, 0);
    const file = fileOf(
      'foreign.csv',
      [
        'Key;When;Consent state;Ads;Page',
        'k1;2023-05-01 10:00:00;Accepted;yes;https://shop.example/?q=1',
        'k2;2023-05-02 10:00:00;Declined;no;',
        'k3;2023-05-03 10:00:00;Perhaps;no;',
        '"k4;2023-05-04 10:00:00;Declined;no;',
      ].join('\n'),
    );
    const refused = path.join(folder, 'refused.csv');
    const args = ['records', 'import', file, '--domain', domainId, '--delimiter', ';', '--refused', refused];
    const maps = ['externalId=Key', 'decidedAt=When', 'decision=Consent state', 'pageUrl=Page', 'preferences.ads=Ads'];
    args.push(...maps.flatMap((map) => ['--map', map]));
    args.push('--map-value', 'decision:accepted=accept_all', '--map-value', 'decision:Declined=reject_all');
    const counts = { read: 4, queued: 2, known: 0, rejected: 2 };
    expect(await cli.json<Imported>(...args, '--dry-run')).toMatchObject(counts);
    expect(await recordsOf(domainId)).toEqual([]);
    expect(await cli.json<Imported>(...args)).toMatchObject(counts);
    expect(await recordsOf(domainId)).toMatchObject([
      { decision: 'reject_all', decidedAt: '2023-05-02T10:00:00.000Z', preferences: { ads: false }, pageUrl: null },
      { decision: 'accept_all', preferences: { ads: true }, pageUrl: 'https://shop.example/', source: 'import' },
    ]);
    const [header, third, fourth] = readFileSync(refused, 'utf8').split('\r\n');
    expect(header).toBe('row,code,detail,text');
    expect(third).toContain('3,invalid_request');
    expect(third).toContain('Perhaps');
    expect(fourth).toContain('4,invalid_request');
    expect(await cli.json<Imported>(...args)).toMatchObject({ ...counts, queued: 0, known: 2 });
    // the worker raises what the command line stored
    await eventually(async () => {
      const { body, headers } = await stack.client.stats(domainId, 'from=2023-05-01&to=2023-05-31');
      expect([body.total, headers.get('x-stats-source')]).toEqual([2, 'redis']);
    });
  });

  it.each([
    ['cookiebot', 'Key,Date and time,Consent state,Marketing\nk,2023-05-01 10:00:00,Declined,false'],
    ['usercentrics', 'Controller ID,Timestamp,Consent Action\nk,2023-05-01T10:00:00Z,onDenyAllServices'],
    ['cookieyes', 'Consent ID,Date,Consent Status\nk,2023-05-01T10:00:00Z,Rejected'],
  ])('has a preset for %s', async (preset, text) => {
    const args = ['records', 'import', fileOf(`${preset}.csv`, text), '--domain', at(stack.tenant.domainIds, 1)];
    const result = await cli.json<Imported>(...args, '--dry-run', '--preset', preset);
    expect(result).toMatchObject({ read: 1, queued: 1, rejected: 0 });
  });

  it('has a preset for the columns and the form of a file, which options override', async () => {
    const preset = fileOf(
      'ours.json',
      JSON.stringify({
        columns: { externalId: 'Nr', decidedAt: 'Zeit', decision: 'Wahl', 'preferences.ads': 'Werbung' },
        values: { decision: { Ja: 'accept_all', nein: 'reject_all' } },
        delimiter: ';',
        timeFormat: 'dd.MM.yyyy HH:mm',
        timeZone: 'Europe/Berlin',
        encoding: 'utf-16',
      }),
    );
    const rows = 'Nr;Zeit;Wahl;Werbung\r\n1;01.07.2023 10:00;ja;yes\r\n2;30.02.2023 10:00;nein;no\r\n';
    const file = path.join(folder, 'ours.csv');
    writeFileSync(file, rows, 'utf16le');
    const domainId = at(stack.tenant.domainIds, 1);
    const args = ['records', 'import', file, '--domain', domainId, '--preset', preset];
    expect(await cli.json<Imported>(...args)).toMatchObject({ read: 2, queued: 1, rejected: 1 });
    expect(await recordsOf(domainId)).toMatchObject([
      { decision: 'accept_all', decidedAt: '2023-07-01T08:00:00.000Z', preferences: { ads: true } },
    ]);
    const other = await cli.json<Imported>(...args, '--time-zone', 'UTC', '--dry-run');
    expect(other, 'of another time, so another record').toMatchObject({ queued: 1, known: 0 });
    // NDJSON has no columns, but times
    const row = { decision: 'custom', decidedAt: '01.07.2023 10:00', preferences: {} };
    const lines = args.with(2, fileOf('ours.ndjson', JSON.stringify(row)));
    const times = fileOf('times.json', '{"timeFormat":"dd.MM.yyyy HH:mm","timeZone":"Europe/Berlin"}');
    expect(await cli.json<Imported>(...lines.with(-1, times), '--dry-run')).toMatchObject({ queued: 1 });
    expect(await cli.error(...lines)).toContain(`${preset} has columns or values, which are for CSV`);
    expect(await cli.error(...lines, '--map', 'decision=x')).toContain('--map and --map-value are for CSV');
    expect(await cli.error(...lines, '--delimiter', ';')).toBe('--delimiter is for CSV');
    expect(await cli.error(...args.with(-1, 'nobody'))).toContain('cookieyes, or a .json file');
  });

  it('lists all rows that it refuses, in little memory', async () => {
    const domainId = at(stack.tenant.domainIds, 3);
    const rows = 500_000;
    const file = fileOf('bad.csv', `decision,decidedAt\n${'x\n'.repeat(rows)}`);
    const list = path.join(folder, 'refused-bad.csv');
    const small = createCli({ ...stack.env, NODE_OPTIONS: '--max-old-space-size=96' });
    const args = ['records', 'import', file, '--domain', domainId, '--refused', list];
    const { code, stdout } = await small.run(...args, '--json');
    expect([code, JSON.parse(stdout)]).toMatchObject([1, { read: rows, queued: 0, rejected: rows }]);
    const listed = readFileSync(list, 'utf8').trimEnd().split('\r\n');
    expect(listed.length).toBe(rows + 1);
    expect(listed.at(-1)).toContain(`${rows},invalid_`);
  });

  it('takes files of any length, and says in one line what it cannot do', async () => {
    const domainId = at(stack.tenant.domainIds, 2);
    const many = Array.from({ length: 3_000 }, (_, index) =>
      JSON.stringify({ decision: 'custom', decidedAt: '2019-10-01T00:00:00Z', externalId: index }),
    ).join('\n');
    const into = (file: string, ...options: string[]) => ['records', 'import', file, '--domain', domainId, ...options];
    const file = fileOf('many.ndjson', many);
    expect(await cli.json<Imported>(...into(file))).toMatchObject({ queued: 3_000 });
    expect(await cli.json<Imported>(...into(file))).toMatchObject({ known: 3_000 });
    expect(await cli.error(...into(file).with(4, 'dom_unknown'))).toBe('no domain dom_unknown');
    expect(await cli.error(...into(fileOf('x.txt', '')))).toContain('--format');
    const csv = fileOf('x.csv', 'a,b\n1,2\n');
    expect(await cli.error(...into(csv, '--map', 'decision=c'))).toContain('no column "c"');
    expect(await cli.error(...into(csv, '--map', 'x'))).toContain('FIELD=COLUMN');
    expect(await cli.error(...into(csv, '--time-format', 'HH:mm'))).toContain('--time-format is');
    expect(await cli.error(...into(csv, '--refused', path.join(folder, 'x.csv.gz')))).toContain('without .gz');
    expect(await cli.error(...into(csv, '--refused', `${folder}/./x.csv`))).toContain('another name');
    expect(readFileSync(csv, 'utf8')).toBe('a,b\n1,2\n');
  });
});
