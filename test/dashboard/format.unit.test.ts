import { describe, expect, it } from 'vitest';
import { escapeInvisible, growth, points, pointsOf } from '../../apps/dashboard/format.ts';

describe('text from websites', () => {
  it.each(['می\u200cخواهم', 'क्\u200dष', '👨\u200d👩\u200d👧 👩🏽\u200d🚀 ❤\ufe0f\u200d🔥'])(
    '%s is shown as it is written',
    (text) => {
      expect(escapeInvisible(text)).toBe(text);
    },
  );

  it.each([
    ['a joiner that joins nothing', '\u200cnorth\u200d', '\\u{200c}north\\u{200d}'],
    ['two in one place', 'می\u200c\u200dخواهم', 'می\\u{200c}\\u{200d}خواهم'],
    ['what turns direction, also beside one', 'می\u200c\u202eخواهم\u2066', 'می\\u{200c}\\u{202e}خواهم\\u{2066}'],
    ['what is invisible', 'a\u200bb\u00adc\u0007', 'a\\u{200b}b\\u{ad}c\\u{7}'],
  ])('%s is named', (_, text, shown) => {
    expect(escapeInvisible(text)).toBe(shown);
  });
});

it('what is negative has a minus sign', () => {
  expect([points(1, 0), pointsOf(-0.5), growth(2, 1)]).toEqual(['−100.0 points', '−50.0', '−50.0%']);
});
