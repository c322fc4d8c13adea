/** Passwords: how they are stored, and which are refused. */
import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { refuseFields } from '#libs/base/terms/field-errors';

/** of scrypt: N is a power of two */
export interface Cost {
  log2n: number;
  r: number;
  p: number;
}

/** One of OWASP's options for scrypt: N = 2^15, r = 8, p = 3, which takes 32 MiB. */
export const usualCost: Cost = { log2n: 15, r: 8, p: 3 };
const hashLength = 32;
/** bytes; the parameters take somewhat more than 128 · N · r */
const maxmem = 64 * 1024 * 1024;

const derive = promisify<string, Buffer, number, ScryptOptions, Buffer>(scrypt);

const hashOf = (password: string, salt: Buffer, { log2n, r, p }: Cost): Promise<Buffer> =>
  // keyboards differ in how they compose the same letters
  derive(password.normalize('NFKC'), salt, hashLength, { N: 2 ** log2n, r, p, maxmem });

/** In the form of the column `people.password`. Takes a few tenths of a second in a thread, and 32 MiB. */
export async function hashPassword(password: string, cost = usualCost): Promise<string> {
  const salt = randomBytes(16);
  const hash = await hashOf(password, salt, cost);
  return ['scrypt', cost.log2n, cost.r, cost.p, salt.toString('base64'), hash.toString('base64')].join('$');
}

/** For an unknown person `stored` is undefined; the check takes just as long, so its duration does not give that away. */
export async function isPassword(password: string, stored: string | undefined, cost = usualCost): Promise<boolean> {
  const [, log2n, r, p, salt = '', hash = ''] = (stored ?? '').split('$');
  if (stored === undefined) await hashOf(password, randomBytes(16), cost);
  else {
    const given = await hashOf(password, Buffer.from(salt, 'base64'), {
      log2n: Number(log2n),
      r: Number(r),
      p: Number(p),
    });
    return timingSafeEqual(given, Buffer.from(hash, 'base64'));
  }
  return false;
}

/** Characters that are judged: further ones only add strength, and take time. */
const judged = 64;
/** zxcvbn's score, from 0 to 4 */
const goodEnough = 3;

/** By zxcvbn's warnings. */
const reasons: Record<string, string> = {
  straightRow: 'is a row of keys, which is easy to guess',
  keyPattern: 'is a short pattern of keys, which is easy to guess',
  simpleRepeat: 'repeats a character, which is easy to guess',
  extendedRepeat: 'repeats itself, which is easy to guess',
  sequences: 'is a common sequence, which is easy to guess',
  recentYears: 'is mostly a recent year, which is easy to guess',
  dates: 'is mostly a date, which is easy to guess',
  topTen: 'is one of the most used passwords',
  topHundred: 'is one of the most used passwords',
  common: 'is an often used password',
  similarToCommon: 'is similar to an often used password',
  userInputs: 'contains your address or your name',
};

/** Throws a 400 with the reason if the password is easy to guess, also for somebody who knows `about`. */
export async function requireStrong(password: string, about: string[]): Promise<void> {
  judging ??= load();
  const check = await judging;
  const { score, feedback } = check(
    password.slice(0, judged),
    about.flatMap((text) => [text, ...text.split(/[\s@.]+/)]),
  );
  if (score >= goodEnough) return;
  const message = reasons[feedback.warning ?? ''] ?? 'is easy to guess; add another word or two';
  throw refuseFields([{ path: '/password', message }]);
}

type Check = (password: string, about: string[]) => { score: number; feedback: { warning: string | null } };

/** The word lists take some 7 MB, so they are loaded on first use. */
let judging: Promise<Check> | undefined;

async function load(): Promise<Check> {
  const [{ ZxcvbnFactory }, { dictionary, adjacencyGraphs }] = await Promise.all([
    import('@zxcvbn-ts/core'),
    import('@zxcvbn-ts/language-common'),
  ]);
  const zxcvbn = new ZxcvbnFactory({ dictionary, graphs: adjacencyGraphs });
  return (password, about) => zxcvbn.check(password, about);
}
