import { describe, expect, it } from 'vitest';
import type { Region } from '#libs/widget/config';
import { countriesOf, ruleFor } from '#libs/widget/places';
import { publishedNotices } from '#libs/widget/published-notices';

const regions: Region[] = [
  { in: ['US-CA'], model: 'opt_out' },
  { in: ['US'], model: 'none' },
  { in: ['EU'], model: 'opt_in', maxAgeMonths: 1 },
  { in: ['EEA', 'CA-QC'], model: 'opt_in', maxAgeMonths: 2 },
  { in: '*', model: 'opt_in', maxAgeMonths: 3 },
];

describe('a rule for a place', () => {
  it.each<[string | null, string | null, Partial<Region> | undefined]>([
    ['US', 'US-CA', { model: 'opt_out' }],
    ['US', 'US-NY', { model: 'none' }],
    ['US', null, { model: 'none' }],
    ['DE', null, { maxAgeMonths: 1 }],
    ['RE', null, { maxAgeMonths: 1 }],
    ['AX', null, { maxAgeMonths: 1 }],
    ['NO', null, { maxAgeMonths: 2 }],
    ['CA', 'CA-QC', { maxAgeMonths: 2 }],
    ['CA', 'CA-ON', { maxAgeMonths: 3 }],
    ['GB', null, { maxAgeMonths: 3 }],
    // every place that is known
    [null, null, undefined],
  ])('in %s, %s', (country, region, expected) => {
    const found = ruleFor(regions, { country, region });
    if (expected) expect(found).toMatchObject(expected);
    else expect(found).toBeUndefined();
  });

  it('knows the 27 members of the EU with their outermost regions, and the EEA', () => {
    expect(new Set(countriesOf('EU')).size).toBe(34);
    expect(new Set(countriesOf('EEA')).size).toBe(37);
    expect(countriesOf('US')).toBeUndefined();
  });
});

it('notices of each model are known when they are published, each once, with an objection and without', () => {
  const all = (settings: object) =>
    [...publishedNotices(settings, '1')]
      .filter(({ language }) => language === 'en')
      .map(({ text }) => JSON.parse(text));
  const [plain, signalled] = all({});
  const found = all({
    regions: [
      ...regions,
      { in: ['GB'], model: 'opt_in', on: ['analytics'] },
      { in: ['SG'], model: 'none' },
    ] satisfies Region[],
  });
  expect(found.slice(0, 2)).toEqual([plain, signalled]);
  expect(found.map(({ model, asks, note, buttons }) => [model, asks, note, buttons[0]])).toEqual([
    [undefined, 'Your consent is asked for: Statistics · Marketing', undefined, 'Accept all'],
    [undefined, 'Your consent is asked for: Statistics · Marketing', expect.stringContaining('Global'), 'Accept all'],
    ['opt_out', '', undefined, 'Your Privacy Choices'],
    ['opt_out', '', 'Opt-out request honored', 'Your Privacy Choices'],
    ['none', '', undefined, 'Your Privacy Choices'],
    ['none', '', 'Opt-out request honored', 'Your Privacy Choices'],
    [undefined, 'Your consent is asked for: Marketing', undefined, 'Accept all'],
    [undefined, 'Your consent is asked for: Statistics · Marketing', expect.stringContaining('Global'), 'Accept all'],
  ]);
});
