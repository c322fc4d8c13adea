/**
 * Formats numbers, days and times in English, with the browser's variant of it. Days and times are UTC, as the page says
 * beside them. The calendar is always Gregorian, like that of the statistics.
 */
import { startOf } from '#libs/base/terms/calendar';

const { locale } = new Intl.NumberFormat().resolvedOptions();
/** The browser's variant of English; for other languages one with a 24-hour clock. */
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
/** Replaces the hyphen of English locales by a minus sign. */
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
/** The difference of two shares: `+2.3 points`. */
export const points = (from: number, to: number): string => `${signedPoints(to - from)} points`;
/** A difference of shares in points, signed: `+2.3`. */
export const signedPoints = (difference: number): string => withMinus(signed.format(difference * 100));
/** A difference of shares in points, unsigned: `2.3`. */
export const pointsOf = (difference: number): string => withMinus(oneDecimal.format(difference * 100));
/** `+12.0%`; null if there is nothing to compare with. */
export const growth = (from: number, to: number): string | null =>
  from === 0 ? null : withMinus(signedShare.format((to - from) / from));

export const dayName = (text: string): string => dayFormat.format(startOf(text));
export const dayWithWeekday = (text: string): string => weekdayFormat.format(startOf(text));
export const dayTick = (text: string): string => tickFormat.format(startOf(text));
export const monthName = (text: string): string => monthFormat.format(startOf(`${text}-01`));
export const monthTick = (text: string): string => shortMonthFormat.format(startOf(`${text}-01`));
export const dayRange = (from: string, to: string): string => dayFormat.formatRange(startOf(from), startOf(to));
/** The next five functions take an RFC 3339 time. */
export const timeOfDay = (time: string): string => clockFormat.format(Date.parse(time));
export const hourAndMinute = (time: string): string => minuteOfDayFormat.format(Date.parse(time));
export const dateOf = (time: string): string => dayFormat.format(Date.parse(time));
export const dateAndTime = (time: string): string => `${dateOf(time)}, ${timeOfDay(time)}`;
export const dateAndMinute = (time: string): string => minuteFormat.format(Date.parse(time));
/** Takes Unix milliseconds; uses the browser's time zone, since it describes events in the page itself. */
export const localTimeOfDay = (time: number): string => localClockFormat.format(time);

/** U+200C and U+200D inside a word are left alone: Persian, Hindi and joined emoji need them. */
const hidden =
  /(?!(?<=[\p{L}\p{M}\p{Extended_Pictographic}\p{Emoji_Modifier}])[\u200c\u200d](?=[\p{L}\p{M}\p{Extended_Pictographic}]))[\p{Cc}\p{Cf}]/gu;

/** Shows invisible and direction-changing characters of a website's text as their code points. */
export const escapeInvisible = (text: string): string =>
  text.replace(hidden, (letter) => `\\u{${letter.codePointAt(0)?.toString(16)}}`);
