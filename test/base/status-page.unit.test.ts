import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { lateQueue, type Readiness, readyzBody } from '#libs/base/ops/readiness';
import { statusPage } from '#libs/base/ops/status-page';

const since = Date.parse('2026-11-22T08:24:00.634Z');
const well: Readiness = { ready: true, parts: { postgres: true, redis: true }, degraded: [], warnings: [] };
const degraded: Readiness = {
  ready: true,
  parts: { postgres: true, redis: 'not <connected>' },
  degraded: [{ part: 'redis', reason: 'not <connected>', since, costs: 'Records go to Postgres.' }],
  warnings: ['Redis has no maxmemory'],
};
const shards = [{ shard: 0, jobs: { waiting: 3, failed: 1 }, oldest: 7_380 }];
const page = (readiness: Readiness, others = {}) =>
  statusPage({ name: 'API', readiness, shards, links: ['/readyz'], now: since + 125_000, ...others });

describe('readiness', () => {
  it('says which part is degraded, since when, and what that costs', () => {
    const [fault] = degraded.degraded;
    expect(readyzBody(degraded)).toEqual({
      ...{ ready: true, postgres: true, redis: 'not <connected>', warnings: degraded.warnings },
      degraded: [{ ...fault, since: '2026-11-22T08:24:00.634Z' }],
    });
    expect(readyzBody(well)).toEqual({ ready: true, postgres: true, redis: true });
  });

  it('has the queue among it once a job has waited for a minute', () => {
    vi.useFakeTimers({ toFake: ['Date'], now: since });
    onTestFinished(() => void vi.useRealTimers());
    expect(lateQueue([{ shard: 0, jobs: {}, oldest: 59 }])).toEqual([]);
    const [fault] = lateQueue([...[59, 75].map((oldest, shard) => ({ shard, jobs: {}, oldest }))]);
    expect(fault?.part).toBe('queue');
    expect(fault?.since).toBe(since - 75_000);
  });
});

describe('the page of state', () => {
  it('says at a glance how it is', () => {
    const works = page(well, { shards: [{ shard: 0, jobs: { waiting: 3, failed: 0 }, oldest: 1 }] });
    expect(works).toContain('Ready: all parts work');
    expect(works).not.toContain('<h2>Warnings</h2>');
    expect(page(well)).toContain('Ready, but jobs have failed');
    expect(page(well)).toContain('<li>Jobs that failed for good: 1. `queue status` says why.</li>');
    expect(page(degraded)).toContain('Ready, but degraded');
    expect(page({ ...degraded, ready: false })).toContain('Not ready');
  });

  it('shows a degraded part with its reason, its time and its costs', () => {
    expect(page(degraded)).toContain(
      '<th scope="row">redis</th><td>degraded: not &lt;connected&gt;</td>' +
        '<td>2026-11-22 08:24:00 UTC, for 2 min 5 s</td><td>Records go to Postgres.</td>',
    );
    expect(page(degraded)).toContain('<li>Redis has no maxmemory</li>');
  });

  it('shows the queues, or that nothing is known of them', () => {
    expect(page(well)).toContain('<th scope="row">Shard 0</th><td>3</td><td>1</td><td>2 h 3 min</td>');
    expect(page(degraded, { shards: null })).toContain('Unknown: Redis does not respond.');
    expect(page(degraded, { shards: null })).toContain('<th scope="row">queue</th><td>unknown</td>');
  });
});
