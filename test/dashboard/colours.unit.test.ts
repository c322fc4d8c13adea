/** The colours of the four decisions, as the stylesheet has them. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { decisions } from '../../apps/dashboard/data/decisions.ts';
import { contrast } from '../../apps/dashboard/widget-setup/draft/contrast.ts';

const tokens = readFileSync(new URL('../../apps/dashboard/styles/tokens.css', import.meta.url), 'utf8');

describe.each([
  ['light', 0],
  ['dark', 1],
] as const)('in the %s scheme', (_, scheme) => {
  const colour = (name: string): string => {
    const [, ...both] = new RegExp(`--${name}: light-dark\\((#[0-9a-f]{6}), (#[0-9a-f]{6})\\)`).exec(tokens) ?? [];
    return both[scheme] ?? expect.fail(`no colour --${name}`);
  };
  const colours = decisions.map((name) => colour(name === 'withdraw' ? 'withdraw-ink' : name));

  it.each(['surface', 'raised'])('decisions stand out from --%s', (behind) => {
    for (const each of colours) expect(contrast(each, colour(behind)) ?? 0).toBeGreaterThanOrEqual(3);
  });

  it('decisions that lie side by side differ in lightness, and withdrawals are hatched', () => {
    colours.slice(1).forEach((each, index) => {
      expect(contrast(each, colours[index] ?? '') ?? 0).toBeGreaterThanOrEqual(1.6);
    });
    expect(tokens).toContain('--withdraw: repeating-linear-gradient(');
  });
});
