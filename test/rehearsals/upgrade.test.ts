/** The rolling upgrade of docs/upgrading.md, from the release before to this one, under load. */
import { expect, inject, it } from 'vitest';
import { perform } from '../../scripts/chaos/drill.ts';
import { upgradeAt } from '../../scripts/chaos/drills/replicated.ts';

it('loses, doubles and refuses nothing, and old and new processes take jobs of one another', async () => {
  const { signal } = new AbortController();
  const report = await perform(upgradeAt(60, 0.5), inject('dist'), signal);
  expect(report).toMatchObject({ breaches: [], verdict: { lost: 0 } });
  expect(report.verdict?.acknowledged).toBe(report.verdict?.attempts);
}, 900_000);
