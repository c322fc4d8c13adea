import { beforeAll, describe, expect, it } from 'vitest';
import { addDays, dayOf } from '#libs/contract/calendar';
import { atEnd } from '../support/at-end.ts';
import { createCli } from '../support/cli.ts';
import { type OwnStack, startStack } from '../support/stack.ts';
import { eventually } from '../support/wait.ts';

const today = dayOf(Date.now());
const burst = 20;

describe('a Redis that takes requests and never answers', () => {
  let stack: OwnStack;
  const acknowledged: string[] = [];

  beforeAll(async () => {
    stack = await startStack();
    const thaw = () => process.kill(stack.redis.pid, 'SIGCONT');
    // a frozen process cannot be asked to end
    atEnd(thaw);
    await eventually(() => record('queued'));
    await untilCounted('redis', acknowledged.length);
    process.kill(stack.redis.pid, 'SIGSTOP');
  });

  const record = async (how: string) => {
    const { status, body } = await stack.client.record(stack.domainId, stack.apiKey, { decision: 'custom' });
    if (status === 202) acknowledged.push(body.id);
    expect({ status, how: body.status }).toEqual({ status: 202, how });
  };
  const untilCounted = (source: string, total: number) =>
    eventually(async () => {
      const { body, headers } = await stack.client.stats(stack.domainId, `from=${today}&to=${addDays(today, 1)}`);
      expect({ source: headers.get('x-stats-source'), total: body.total }).toEqual({ source, total });
    });

  it('costs no record: all are persisted, in time', async () => {
    const started = performance.now();
    await Promise.all(Array.from({ length: burst }, () => record('persisted')));
    expect(performance.now() - started).toBeLessThan(9_000);
  });

  it('costs no reading', async () => {
    const started = performance.now();
    await untilCounted('postgres', acknowledged.length);
    expect((await stack.client.orgStats()).body.total).toBe(acknowledged.length);
    expect(performance.now() - started).toBeLessThan(9_000);
  });

  it('and that answers again after all has counted nothing twice', async () => {
    process.kill(stack.redis.pid, 'SIGCONT');
    await eventually(() => record('queued'));
    await untilCounted('redis', acknowledged.length);
    const { body } = await stack.client.records(stack.domainId, 'limit=200');
    expect(body.records.map(({ id }) => id).sort()).toEqual(acknowledged.toSorted());
    const cli = createCli(stack.env);
    await eventually(async () => expect(await cli.json('counters', 'check')).toMatchObject({ differences: [] }));
    await eventually(
      async () => expect(await cli.json('queue', 'status')).toMatchObject({ waiting: 0, active: 0, failed: 0 }),
      { within: 40_000 },
    );
  }, 120_000);
});
