/** Imports whose API or worker is killed half-way: sent again, everything is there once. */
import { beforeAll, describe, expect, it } from 'vitest';
import type { Imported } from '#libs/contract/responses';
import { type Answer, request, tokenFor } from '../support/client.ts';
import { countRecords, storedCounters } from '../support/counts.ts';
import { type Addresses, type Service, startApiProcess, startWorkerProcess } from '../support/service.ts';
import { at, type OwnStackOfProcesses, startProcesses } from '../support/stack.ts';
import { eventually } from '../support/wait.ts';

const rows = 20_000;
/** After so many it is killed. */
const some = 3_000;
const text = Array.from(
  { length: rows },
  (_, index) =>
    `${JSON.stringify({
      decision: ['accept_all', 'reject_all', 'withdraw'][index % 3],
      decidedAt: new Date(Date.parse('2021-03-01T00:00:00Z') + index * 300_000).toISOString(),
      externalId: index,
      visitorId: `visitor ${index % 500}`,
    })}\n`,
).join('');

describe('an import', () => {
  let stack: OwnStackOfProcesses;
  let worker: Service;

  beforeAll(async () => {
    stack = await startProcesses({ worker: false, tenant: { domains: 2 } });
    worker = await startWorkerProcess(stack.env);
  });

  const send = ({ baseUrl }: Addresses, domainId: string): Promise<Answer<Imported>> =>
    request<Imported>(baseUrl, `/v1/consent/${domainId}/import?format=ndjson`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${tokenFor(stack.tenant.organizationId, { scope: 'import' })}`,
        'content-type': 'application/x-ndjson',
      },
      body: text,
    });
  const stored = async (domainId: string): Promise<number> => {
    const [row] = await stack.db.run(
      (sql) => sql<{ count: number }[]>`
        select count(*) from records where domain_number = (select number from domains where id = ${domainId})`,
    );
    return row?.count ?? 0;
  };
  const untilSome = (domainId: string) =>
    eventually(async () => expect(await stored(domainId)).toBeGreaterThan(some), { within: 40_000, every: 5 });
  /** In the middle of a statement, of which nothing is left. */
  const killAtWork = () =>
    stack.db.run(
      (sql) =>
        sql.begin(async (locking) => {
          await locking`lock table records in share row exclusive mode`;
          const waiting = sql`select pid from pg_locks where not granted and relation = 'records'::regclass`;
          await eventually(async () => expect((await sql`${waiting}`).length).toBeGreaterThan(0));
          worker.process.kill();
          await worker.process.exited;
          await sql`select pg_terminate_backend(pid) from (${waiting}) as waiting`;
        }),
      30_000,
    );
  /** All are there once, and every counter says so. */
  const expectAll = async (domainId: string) => {
    await eventually(async () => expect(await stored(domainId)).toBe(rows), { within: 40_000 });
    const { organizationId } = stack.tenant;
    expect(await storedCounters(stack.db, organizationId)).toEqual(await countRecords(stack.db, organizationId));
  };
  const counted = ({ status, body: { read, queued, known, rejected } }: Answer<Imported>) => ({
    status,
    read,
    queued,
    known,
    rejected,
  });

  it('whose API is killed loses and doubles nothing once the same file is sent again', async () => {
    const domainId = at(stack.tenant.domainIds, 0);
    const cut = send(stack.api, domainId).then(
      () => 'answered',
      () => 'cut off',
    );
    await untilSome(domainId);
    stack.api.process.kill();
    expect(await cut).toBe('cut off');
    const before = await stored(domainId);
    expect(before).toBeLessThan(rows);
    const api = await startApiProcess(stack.env);
    const { read, queued, known, rejected } = counted(await send(api, domainId));
    expect({ read, all: queued + known, rejected }).toEqual({ read: rows, all: rows, rejected: 0 });
    expect(known).toBeGreaterThanOrEqual(before);
    await expectAll(domainId);
    expect(counted(await send(api, domainId))).toEqual({
      status: 200,
      read: rows,
      queued: 0,
      known: rows,
      rejected: 0,
    });
  });

  it('whose worker is killed goes on with the next worker', async () => {
    const domainId = at(stack.tenant.domainIds, 1);
    const api = await startApiProcess(stack.env);
    const sent = send(api, domainId);
    await untilSome(domainId);
    await killAtWork();
    const before = await stored(domainId);
    expect(before).toBeLessThan(rows);
    await startWorkerProcess(stack.env);
    expect(counted(await sent)).toEqual({ status: 200, read: rows, queued: rows, known: 0, rejected: 0 });
    await expectAll(domainId);
  });
});
