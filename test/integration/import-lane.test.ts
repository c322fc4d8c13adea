/** What imports put into the queue, and how they wait for each other. */
import { expect, it } from 'vitest';
import type { NewRecord } from '#libs/contract/record';
import { persistOrReject } from '#libs/store/records/persist-or-reject';
import { createImportLane } from '../../apps/api/manage/import-lane.ts';
import { recordAt } from '../support/records.ts';
import { at } from '../support/stack.ts';
import { makeTenant, openDatabase } from '../support/stores.ts';

it('an import waits neither for records that Postgres refuses nor for those of another import that nobody stores', async () => {
  const { db } = await openDatabase();
  const { organizationId, domainIds } = await makeTenant(db);
  const domainId = at(domainIds, 0);
  const make = (visitorId: string) => [1, 2, 3].map(() => recordAt('2024-05-15', { domainId, visitorId }));
  const batches: NewRecord[][] = [];
  // what the queue and a worker do
  const record = async (each: NewRecord) => {
    const batch = batches.find((some) => some.includes(each)) ?? [];
    if (each === batch.at(-1) && each.visitorId !== 'stuck') await persistOrReject(db, batch);
    return 'queued' as const;
  };
  const lane = createImportLane({ db, record });
  const store = (records: NewRecord[], signal: AbortSignal) => {
    batches.push(records);
    return lane.store(organizationId, domainId, records, signal);
  };
  const [stuck, own] = [new AbortController().signal, new AbortController().signal];
  await store(make('stuck'), stuck);
  const refused = recordAt('2024-05-15', { domainId, visitorId: 'a\0b', metadata: { b: 1, a: 'x' } });
  for (const records of [[...make('stored'), refused], make('\0'), make('stored'), make('stored'), make('stored')])
    await expect(store(records, own)).resolves.toBeUndefined();
  await lane.settle(own);
});
