import { expect, it } from 'vitest';
import type { NewRecord } from '#libs/record/contract';
import { packJob, unpackJob } from '#libs/record/queue';
import { recordAt } from '../support/records.ts';

it('a job is of the oldest version that knows its fields, so that workers of the release before take what they can', () => {
  const record = recordAt(Date.now(), { domainId: 'dom_a' });
  const versionWith = (fields: Partial<NewRecord>) => packJob([record, { ...record, ...fields }]).v;
  const importedAt = new Date().toISOString();
  const versions = [{}, { importedAt }, { region: 'US-CA' }, { importedAt, model: 'opt_in' as const }].map(versionWith);
  expect(versions).toEqual([3, 4, 5, 5]);
  const placed = { ...record, region: 'US-CA', model: 'opt_out' as const };
  expect(unpackJob(JSON.parse(JSON.stringify(packJob([placed]))))).toEqual([placed]);
});
