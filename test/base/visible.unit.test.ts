import { describe, expect, it } from 'vitest';
import { visible } from '#libs/base/cli/visible';

const everything = Array.from({ length: 0x10000 }, (_, code) => String.fromCharCode(code)).join('');

describe('what the command line prints', () => {
  it.each([
    ['colours', '\u001b[31mred', '\\u001b[31mred'],
    ['a title of the window', '\u001b]0;owned\u0007', '\\u001b]0;owned\\u0007'],
    ['the same in one byte', '\u009b31m', '\\u009b31m'],
    ['a line that hides the one before', 'a\r\u0008b\nc', 'a\\u000d\\u0008b\\u000ac'],
    ['text that runs the other way', 'abc\u202egpj.exe', 'abc\\u202egpj.exe'],
    ['isolated text', '\u2066a\u2069\u200f\u061c', '\\u2066a\\u2069\\u200f\\u061c'],
  ])('shows %s instead of obeying it', (_, text, shown) => {
    expect(visible(text)).toBe(shown);
  });

  it('leaves everything else as it is', () => {
    const text = 'Größe – “Ωμέγα” 株式会社 👍🏽 ~ \\u001b شركة';
    expect(visible(text)).toBe(text);
  });

  it('never has a control character', () => {
    expect(visible(everything)).not.toMatch(/[\p{Cc}\p{Bidi_Control}\u2028\u2029]/u);
  });

  it('is the same JSON where it was JSON', () => {
    const value = { [everything]: everything };
    expect(JSON.parse(visible(JSON.stringify(value)))).toEqual(value);
  });
});
