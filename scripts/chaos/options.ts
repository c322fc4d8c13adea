/** What `npm run chaos` is asked to do. Rejects in one line what it does not understand. */
import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { Advice } from '../stack/advice.ts';

interface Options {
  list: boolean;
  quick: boolean;
  /** of drills */
  names: string[];
  random?: { seed: number; minutes: number };
}

const seeds = 2 ** 32;
const longest = 24 * 60;
const usual = '20';

const flag = { type: 'boolean', default: false } as const;
const options = {
  quick: flag,
  list: flag,
  random: flag,
  minutes: { type: 'string' },
  seed: { type: 'string' },
} as const;

export function readOptions(args: string[], drills: string[]): Options {
  const { values, positionals: names } = parseArgs({ args, options, allowPositionals: true });
  const { list, quick, random, minutes, seed } = values;
  const unknown = names.filter((name) => !drills.includes(name));
  if (unknown.length > 0) throw new Advice(`no drill ${unknown.join(', ')}; see npm run chaos -- --list`);
  if (!random) {
    if (minutes !== undefined || seed !== undefined) throw new Advice('--minutes and --seed belong to --random');
    return { list, quick, names };
  }
  if (quick || names.length > 0) throw new Advice('--random is a run of its own: name no drills, and no --quick');
  return {
    list,
    quick,
    names,
    random: {
      seed: seed === undefined ? randomInt(seeds) : wholeNumber('--seed', seed, 0, seeds - 1),
      minutes: wholeNumber('--minutes', minutes ?? usual, 1, longest),
    },
  };
}

function wholeNumber(name: string, text: string, least: number, most: number): number {
  const number = Number(text);
  if (/^\d+$/.test(text) && number >= least && number <= most) return number;
  throw new Advice(`${name} is a whole number from ${least} to ${most}, not ${JSON.stringify(text)}`);
}
