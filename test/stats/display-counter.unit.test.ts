import { describe, expect, it } from 'vitest';
import { createDisplayTally } from '#libs/stats/display-buffer';

const noon = Date.UTC(2026, 10, 27, 12);
const of = (fields: object) => ({
  domainId: 'dom_a',
  day: '2026-11-27',
  bannerVersion: '',
  variant: '',
  language: '',
  ...fields,
});
const on = (domainId: string, organizationId = 'org_a') => ({ domainId, organizationId });

describe('a tally of displays', () => {
  it('counts by domain, UTC day of the arrival and values, and starts over once they were taken', () => {
    const tally = createDisplayTally();
    for (let count = 0; count < 3; count += 1) tally.add(on('dom_a'), noon, { bannerVersion: '2', language: 'de' });
    tally.add(on('dom_a'), noon, { variant: '2', language: 'de' });
    tally.add(on('dom_a'), Date.UTC(2026, 10, 28), {});
    tally.add(on('dom_b'), Date.UTC(2026, 10, 28) - 1, {});
    expect(tally.take()).toEqual([
      of({ bannerVersion: '2', language: 'de', displays: 3 }),
      of({ variant: '2', language: 'de', displays: 1 }),
      of({ day: '2026-11-28', displays: 1 }),
      of({ domainId: 'dom_b', displays: 1 }),
    ]);
    expect(tally.take()).toEqual([]);
  });

  it('leaves out made-up values of a domain past its bound, counts all, and others keep theirs', () => {
    const tally = createDisplayTally({ perDomain: 3, perOrganization: 100, inAll: 100 });
    for (let count = 0; count < 10; count += 1) tally.add(on('dom_a'), noon, { variant: `made-up-${count}` });
    tally.add(on('dom_a'), noon, { variant: 'made-up-0' });
    tally.add(on('dom_b'), noon, { variant: 'blue' });
    expect(tally.take()).toEqual([
      of({ variant: 'made-up-0', displays: 2 }),
      of({ variant: 'made-up-1', displays: 1 }),
      of({ variant: 'made-up-2', displays: 1 }),
      of({ displays: 7 }),
      of({ domainId: 'dom_b', variant: 'blue', displays: 1 }),
    ]);
  });

  it('holds at most one more a domain than its bounds, keeps room for other organizations, and loses no display', () => {
    const tally = createDisplayTally({ perDomain: 10, perOrganization: 20, inAll: 40 });
    for (let count = 0; count < 100; count += 1)
      tally.add(on(`dom_${count % 10}`), noon, { variant: `made-up-${count}` });
    tally.add(on('dom_other', 'org_b'), noon, { variant: 'blue' });
    const taken = tally.take();
    expect(taken.filter(({ variant }) => variant !== '')).toHaveLength(21);
    expect(taken).toHaveLength(21 + 10);
    expect(taken).toContainEqual(of({ domainId: 'dom_other', variant: 'blue', displays: 1 }));
    expect(taken.reduce((sum, { displays }) => sum + displays, 0)).toBe(101);
  });

  it('has a bound for all organizations, until it is taken', () => {
    const tally = createDisplayTally({ perDomain: 50, perOrganization: 100, inAll: 60 });
    for (let count = 0; count < 100; count += 1)
      tally.add(on(`dom_${count % 4}`, `org_${count % 4}`), noon, { variant: `${count}` });
    expect(tally.take()).toHaveLength(64);
    tally.add(on('dom_a'), noon, { variant: 'again' });
    expect(tally.take()).toEqual([of({ variant: 'again', displays: 1 })]);
  });
});
