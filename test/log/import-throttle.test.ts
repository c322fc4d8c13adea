/** What imports put into the queue, and how they wait for each other. */
import { beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '#libs/base/db/database';
import { createImportThrottle } from '#libs/log/import-throttle';
import type { NewRecord } from '#libs/record/contract';
import { persistOrReject } from '#libs/record/store';
import { createSharedSlots } from '#libs/tenants/shared-slots';
import { recordAt } from '../support/records.ts';
import { at } from '../support/stack.ts';
import { makeTenant, openDatabase } from '../support/stores.ts';
import { eventually } from '../support/wait.ts';

describe('batches of imports', () => {
  let db: Database;
  beforeAll(async () => {
    ({ db } = await openDatabase());
  });

  /** A lane whose queue and worker store what `stores` allows. */
  const openLane = (stores: (record: NewRecord) => boolean) => {
    const begun: string[] = [];
    const batches: NewRecord[][] = [];
    const record = async (each: NewRecord, organizationId: string) => {
      const batch = batches.find((some) => some.includes(each)) ?? [];
      if (each === batch[0]) begun.push(organizationId);
      if (each === batch.at(-1) && stores(each)) await persistOrReject(db, batch);
      return 'queued' as const;
    };
    const lane = createImportThrottle({ db, record, slots: createSharedSlots().queued });
    const open = async (end = new AbortController().signal) => {
      const { organizationId, domainIds } = await makeTenant(db);
      const domainId = at(domainIds, 0);
      const make = (visitorId: string) => [1, 2, 3].map(() => recordAt('2024-05-15', { domainId, visitorId }));
      const stream = () => {
        const { store, settle } = lane.open(organizationId, domainId, end);
        const put = (records: NewRecord[]) => {
          batches.push(records);
          return store(records);
        };
        return { store: put, settle };
      };
      return { organizationId, make, stream };
    };
    return { begun, batches, open };
  };

  it('wait neither for records that Postgres refuses nor for those of another organization that nobody stores', async () => {
    const { open } = openLane(({ visitorId }) => visitorId !== 'stuck');
    const [other, own] = [await open(), await open()];
    await other.stream().store(other.make('stuck'));
    const { store, settle } = own.stream();
    const [{ domainId } = expect.fail()] = own.make('');
    const refused = recordAt('2024-05-15', { domainId, visitorId: 'a\0b', metadata: { b: 1, a: 'x' } });
    for (const records of [[...own.make('stored'), refused], own.make('\0'), own.make('stored'), own.make('stored')])
      await expect(store(records)).resolves.toBeUndefined();
    await settle();
  });

  it('are few at once, one of an organization, by turns, and pass their slots on once they are stored', async () => {
    const { begun, batches, open } = openLane(() => false);
    const leaving = new AbortController();
    const [first, ...others] = [await open(), await open(), await open(), await open(leaving.signal), await open()];
    const put = ({ make, stream }: typeof first, batch = make('later')) => [stream().store(batch), batch] as const;
    for (const own of [first, first, first, ...others.slice(0, 3)]) put(own);
    const name = ({ organizationId }: typeof first) => organizationId;
    await eventually(() => expect(begun).toEqual([first, ...others.slice(0, 3)].map(name)));
    const [last] = put(at(others, 3));
    // whose client has left keeps its slot: what it put into the queue is there
    leaving.abort();
    await persistOrReject(db, at(batches, 0));
    await eventually(() => expect(begun.slice(4)).toEqual([name(first)]));
    await persistOrReject(db, at(batches, 3));
    await last;
    expect(begun.slice(4)).toEqual([first, at(others, 3)].map(name));
  });
});
