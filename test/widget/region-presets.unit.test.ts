import { expect, it } from 'vitest';
import { checkSettings } from '#libs/widget/check-settings';
import { ruleFor } from '#libs/widget/places';
import { checkedOn, optOutStates, regionPresets } from '#libs/widget/region-presets';
import { sectionOf } from '../support/documents.ts';

const regions = regionPresets.map(({ in: places, model }) => ({ in: places, model }));

it('the presets are settings that the widget takes, each of which is reached', () => {
  expect(checkSettings({ regions })).toEqual([]);
});

it.each<[string | null, string | null, string | undefined]>([
  ['FR', null, 'opt_in'],
  ['RE', null, 'opt_in'],
  ['NO', null, 'opt_in'],
  ['GB', null, 'opt_in'],
  ['CH', null, 'opt_in'],
  ['CA', 'CA-QC', 'opt_in'],
  ['US', 'US-CA', 'opt_out'],
  ['US', 'US-RI', 'opt_out'],
  // their laws come later, or cover a few companies alone
  ['US', 'US-OK', 'opt_in'],
  ['US', 'US-FL', 'opt_in'],
  ['US', null, 'opt_in'],
  ['BR', null, 'opt_in'],
  [null, null, undefined],
])('in %s %s they ask by %s', (country, region, model) => {
  expect(ruleFor(regions, { country, region })?.model).toBe(model);
});

it('no preset is for nobody, and each law was in force when it was checked', () => {
  expect(regionPresets.filter(({ model }) => model === 'none')).toEqual([]);
  expect(optOutStates.filter(({ since }) => since > checkedOn)).toEqual([]);
});

it('the documents have each state with its act and date, and no other', () => {
  const rows = sectionOf('docs/regions.md', '### US states').match(/^\|.*`US-.*$/gm);
  expect(rows).toEqual(
    optOutStates.map(({ code, name, act, since }) => `| ${name} (\`${code}\`) | ${act} | ${since} |`),
  );
});
