import { expect, it } from 'vitest';
import { eachOrganization } from '#libs/stats/each-organization';
import { quiet } from '../support/counter-stores.ts';

const { signal } = new AbortController();

it('an organization that takes long keeps nobody waiting, and at most three are repaired at once', async () => {
  let others = 0;
  let running = 0;
  let most = 0;
  let letGo = () => {};
  const othersAreDone = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const ids = ['org_large', ...Array.from({ length: 20 }, (_, index) => `org_${index}`)];
  await eachOrganization(quiet(), ids, signal, async (id) => {
    running += 1;
    most = Math.max(most, running);
    await (id === 'org_large' ? othersAreDone : Promise.resolve());
    running -= 1;
    if (id !== 'org_large') others += 1;
    if (others === 20) letGo();
  });
  expect(others).toBe(20);
  expect(most).toBe(3);
});

it('one that fails keeps no other from being repaired', async () => {
  const repaired: string[] = [];
  await eachOrganization(quiet(), ['org_a', 'org_b', 'org_c'], signal, async (id) => {
    if (id === 'org_a') throw new Error('of that organization');
    repaired.push(id);
  });
  expect(repaired).toEqual(['org_b', 'org_c']);
});
