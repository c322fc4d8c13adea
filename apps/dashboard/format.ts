/**
 * Numbers, days and times as the visitor's English has them, like the sentences around them. Days and times are UTC, and the page says so next to them. Days and
 * months are those of the statistics, whatever calendar the locale has.
 */
import { startOf } from '#libs/base/terms/calendar';

const { locale } = new Intl.NumberFormat().resolvedOptions();
/** The browser's English; for a browser in another language one with 24 hours. */
export const english = /^en\b/.test(locale) ? locale : 'en-GB';

const number = (options: Intl.NumberFormatOptions = {}) => new Intl.NumberFormat(english, options);
const utc = (options: Intl.DateTimeFormatOptions) =>
  new Intl.DateTimeFormat(english, { timeZone: 'UTC', calendar: 'gregory', hourCycle: 'h23', ...options });
const oneDigit = { minimumFractionDigits: 1, maximumFractionDigits: 1 } as const;
const clock = { hour: '2-digit', minute: '2-digit', second: '2-digit' } as const;
const date = { day: 'numeric', month: 'short', year: 'numeric' } as const;

const whole = number();
const compact = number({ notation: 'compact', maximumFractionDigits: 1 });
const shares = number({ style: 'percent', ...oneDigit });
const signed = number({ ...oneDigit, signDisplay: 'exceptZero' });
const signedShare = number({ style: 'percent', ...oneDigit, signDisplay: 'exceptZero' });
const oneDecimal = number(oneDigit);
/** English locales format with a hyphen. */
const withMinus = (text: string): string => text.replace('-', '−');
const minuteOfDayFormat = utc({ hour: '2-digit', minute: '2-digit' });
const dayFormat = utc(date);
const weekdayFormat = utc({ weekday: 'short', ...date });
const tickFormat = utc({ day: 'numeric', month: 'short' });
const monthFormat = utc({ month: 'long', year: 'numeric' });
const shortMonthFormat = utc({ month: 'short', year: '2-digit' });
const clockFormat = utc(clock);
const minuteFormat = utc({ dateStyle: 'long', timeStyle: 'short' });
const localClockFormat = new Intl.DateTimeFormat(english, { hourCycle: 'h23', ...clock });

export const count = (value: number): string => whole.format(value);
/** `1 record`, `2 records`. */
export const counted = (value: number, one: string, more = `${one}s`): string =>
  `${count(value)} ${value === 1 ? one : more}`;
export const shortCount = (value: number): string => compact.format(value);
export const share = (value: number | null): string => (value === null ? '–' : shares.format(value));
/** `+2.3 points`, of two shares. */
export const points = (from: number, to: number): string => `${signedPoints(to - from)} points`;
/** `+2.3`, of a difference of two shares. */
export const signedPoints = (difference: number): string => withMinus(signed.format(difference * 100));
/** `2.3`, of a difference of two shares. */
export const pointsOf = (difference: number): string => withMinus(oneDecimal.format(difference * 100));
/** `+12 %`; null where there is nothing to compare with. */
export const growth = (from: number, to: number): string | null =>
  from === 0 ? null : withMinus(signedShare.format((to - from) / from));

export const dayName = (text: string): string => dayFormat.format(startOf(text));
export const dayWithWeekday = (text: string): string => weekdayFormat.format(startOf(text));
export const dayTick = (text: string): string => tickFormat.format(startOf(text));
export const monthName = (text: string): string => monthFormat.format(startOf(`${text}-01`));
export const monthTick = (text: string): string => shortMonthFormat.format(startOf(`${text}-01`));
export const dayRange = (from: string, to: string): string => dayFormat.formatRange(startOf(from), startOf(to));
/** These five take an RFC 3339 time. */
export const timeOfDay = (time: string): string => clockFormat.format(Date.parse(time));
export const minuteOfDay = (time: string): string => minuteOfDayFormat.format(Date.parse(time));
export const dateOf = (time: string): string => dayFormat.format(Date.parse(time));
export const dateAndTime = (time: string): string => `${dateOf(time)}, ${timeOfDay(time)}`;
export const dateAndMinute = (time: string): string => minuteFormat.format(Date.parse(time));
/** Takes Unix milliseconds. In the visitor's time zone, for what happens on the visitor's screen. */
export const localTimeOfDay = (time: number): string => localClockFormat.format(time);

/** Without what Persian, Hindi and joined emoji are written with: U+200C and U+200D inside a word. */
const hidden =
  /(?!(?<=[\p{L}\p{M}\p{Extended_Pictographic}\p{Emoji_Modifier}])[\u200c\u200d](?=[\p{L}\p{M}\p{Extended_Pictographic}]))[\p{Cc}\p{Cf}]/gu;

/** Text from websites may contain invisible or direction-changing characters, which are shown by their code point. */
export const escapeInvisible = (text: string): string =>
  text.replace(hidden, (letter) => `\\u{${letter.codePointAt(0)?.toString(16)}}`);
