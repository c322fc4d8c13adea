import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import type { Experiment } from '#libs/widget/config';
import { noticeOf } from '#libs/widget/notice';
import { wordingIn } from '#libs/widget/wording';
import { vary } from '../../apps/widget/experiment.ts';
import type { Settings } from '../../apps/widget/settings.ts';
import german from '../../libs/widget/languages/de.json' with { type: 'json' };

const texts = [{ title: 'Biscuits?', de: { title: 'Kekse?' } }];

const settings = (experiment?: unknown): Settings => ({
  domain: 'dom_1',
  key: 'ak_1',
  api: 'https://consent.example.com',
  nonce: '',
  policyVersion: '',
  bannerVersion: '1',
  maxAgeMonths: 12,
  categories: [{ id: 'necessary', required: true }, { id: 'analytics' }],
  asked: ['analytics'],
  colors: { button: 'red', text: 'black' },
  links: [],
  policyUrl: '/privacy',
  texts,
  wording: wordingIn('de', texts, german),
  ...(experiment !== undefined && { experiment: experiment as Experiment }),
});

const short = {
  texts: { intro: 'In short.', policy: 'Policy', de: { title: 'Kekse!' } },
  colors: { button: 'blue' },
  darkColors: { button: 'cyan' },
  radius: '2px',
  theme: 'dark',
};

describe('an experiment of the widget', () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  afterEach(() => warn.mockClear());
  afterAll(() => warn.mockRestore());

  const varied = (experiment?: unknown): Settings => {
    const given = settings(experiment);
    vary(given);
    return given;
  };
  const shares = (experiment: unknown, draws: number) => {
    const drawn: Record<string, number> = {};
    for (let count = 0; count < draws; count += 1) {
      const { variant = '' } = varied(experiment);
      drawn[variant] = (drawn[variant] ?? 0) + 1 / draws;
    }
    return drawn;
  };

  it('without one nothing is different, not even the notice', () => {
    expect(varied()).toEqual(settings());
    expect(JSON.stringify(noticeOf(varied(), false, false))).not.toContain('variant');
  });

  it('sets the texts of a variant over all others of its language, and what it looks like', () => {
    const shown = varied({ id: 'autumn', variants: [{ name: 'short', settings: short }] });
    expect(shown).toMatchObject({
      variant: 'autumn:short',
      colors: { button: 'blue', text: 'black', radius: '2px' },
      darkColors: { button: 'cyan' },
      theme: 'dark',
      asked: ['analytics'],
    });
    shown.wording = wordingIn('de', shown.texts, german);
    expect(noticeOf(shown, false, false)).toMatchObject({
      title: 'Kekse!',
      intro: 'In short.',
      links: [{ label: 'Policy', href: '/privacy' }],
      buttons: ['Alle akzeptieren', 'Alle ablehnen', 'Anpassen'],
      language: 'de',
      variant: 'autumn:short',
    });
    expect(texts).toHaveLength(1);
  });

  it('draws again each time, equally or by shares, and never a variant with a share of 0', () => {
    const equal = shares({ id: 'a', variants: [{ name: 'x' }, { name: 'y' }] }, 4_000);
    expect([equal['a:x'], equal['a:y']]).toEqual([expect.closeTo(0.5, 1), expect.closeTo(0.5, 1)]);
    const [x, off, y] = [3, 0, 1].map((share, index) => ({ name: ['x', 'off', 'y'][index], share }));
    const unequal = shares({ id: 'a', variants: [x, off, y] }, 4_000);
    expect(unequal).toEqual({ 'a:x': expect.closeTo(0.75, 1), 'a:y': expect.closeTo(0.25, 1) });
  });

  it('has names that fit into the record', () => {
    const long = 'x'.repeat(31);
    expect(varied({ id: long, variants: [{ name: long }] }).variant).toHaveLength(63);
  });

  it.each<[string, unknown]>([
    ['no id', { variants: [{ name: 'x' }] }],
    ['a long name', { id: 'a', variants: [{ name: 'x'.repeat(32) }] }],
    ['half a surrogate pair', { id: 'a', variants: [{ name: '\ud800' }] }],
    ['a name twice', { id: 'a', variants: [{ name: 'x' }, { name: 'x' }] }],
    ['other categories', { id: 'a', variants: [{ name: 'x' }, { name: 'y', settings: { categories: 'marketing' } }] }],
    ['another key', { id: 'a', variants: [{ name: 'x', settings: { key: 'ak_2' } }] }],
    ['a negative share', { id: 'a', variants: [{ name: 'x', share: -1 }, { name: 'y' }] }],
    ['a share that is text', { id: 'a', variants: [{ name: 'x', share: '1' }] }],
    ['only shares of 0', { id: 'a', variants: [{ name: 'x', share: 0 }] }],
    ['no variants', { id: 'a', variants: [] }],
    ['nothing right', 'autumn'],
    ['a null', { id: 'a', variants: [null] }],
  ])('with %s it is left out, with one warning', (_, experiment) => {
    expect(varied(experiment)).toEqual(settings(experiment));
    expect(warn).toHaveBeenCalledExactlyOnceWith(expect.stringMatching(/^assent: no experiment: /));
  });
});
