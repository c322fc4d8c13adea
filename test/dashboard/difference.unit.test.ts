import { describe, expect, it } from 'vitest';
import { compareTexts, differenceOf } from '../../apps/dashboard/notices/difference.ts';

/** `[-removed-]`, `{+added+}` */
const told = (before: string, after: string): string =>
  compareTexts(before, after)
    .map(({ text, is }) => (is === 'same' ? text : is === 'added' ? `{+${text}+}` : `[-${text}-]`))
    .join('');

describe('what differs between two notices', () => {
  it.each([
    ['', '', ''],
    ['We use cookies.', 'We use cookies.', 'We use cookies.'],
    ['We use cookies.', 'We use cookies and pixels.', 'We use cookies{+ and pixels+}.'],
    ['We use many cookies.', 'We use cookies.', 'We use[- many-] cookies.'],
    ['Accept all of them', 'Reject some of them', '[-Accept all-]{+Reject some+} of them'],
    ['', 'New', '{+New+}'],
    ['Old ', '', '[-Old -]'],
    ['I: one two three four', 'I: zero one three four five', 'I:{+ zero+} one[- two-] three four{+ five+}'],
    ['我们使用饼干', '我们使用像素', '我们使用[-饼干-]{+像素+}'],
  ])('is told word by word: %j, %j', (before, after, difference) => {
    expect(told(before, after)).toBe(difference);
  });

  it('of texts that are too long to compare is all of them', () => {
    const [before, after] = ['a '.repeat(2_100), 'b '.repeat(2_100)];
    expect(told(`${before}end`, `${after}end`)).toBe(`[-${before}end-]{+${after}end+}`);
  });

  it('is found where it is, whatever comes before it, and leaves out what no visitor reads', () => {
    const category = (id: string, label: string) => ({ label, services: [{ name: 'Map' }], id });
    const before = {
      title: 'Hello',
      buttons: ['Yes', 'No'],
      categories: [category('maps', 'Maps')],
      note: '',
      version: '1',
    };
    const after = {
      title: 'Hello',
      buttons: ['Yes', 'Never'],
      categories: [category('video', 'Films'), category('maps', 'Map')],
      note: 'GPC',
      version: '2',
    };
    const { changed, same } = differenceOf(before, after);
    expect(changed.map(({ place }) => place)).toEqual([
      'buttons › 2',
      'categories › video › label',
      'categories › video › services › 1 › name',
      'categories › maps › label',
      'note',
    ]);
    expect(same).toBe(3);
    expect(
      differenceOf(after, before)
        .changed.map(({ place }) => place)
        .sort(),
    ).toEqual(changed.map(({ place }) => place).sort());
  });

  it('is missed by none of what a site may write: the same id twice, numbers, nothing', () => {
    const document = (text: unknown) => ({
      list: [
        { id: 'a', text: 'one' },
        { id: 'a', text },
      ],
      none: null,
    });
    expect(differenceOf(document('two'), document(3)).changed).toEqual([
      {
        place: 'list › a 1 › text',
        parts: [
          { text: 'two', is: 'removed' },
          { text: '3', is: 'added' },
        ],
      },
    ]);
    expect(differenceOf(document('two'), {}).changed).toHaveLength(2);
  });
});
