/** What `npm run chaos` is asked to do. Rejects in one line what it does not understand. */
import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { Advice, wholeNumber } from '../stack/advice.ts';

const seeds = 2 ** 32;
const longest = 24 * 60;
const usual = '20';

const flag = { type: 'boolean', default: false } as const;
const text = { type: 'string' } as const;
const options = { quick: flag, list: flag, random: flag, minutes: text, seed: text };

/** `drills`: their names */
export function readOptions(args: string[], drills: string[]) {
  const { values, positionals: names } = parseArgs({ args, options, allowPositionals: true });
  const { list, quick, random: isRandom, minutes = usual, seed = String(randomInt(seeds)) } = values;
  const unknown = names.filter((name) => !drills.includes(name));
  if (unknown.length > 0) throw new Advice(`no drill ${unknown.join(', ')}; see npm run chaos -- --list`);
  if (!isRandom && (values.minutes ?? values.seed) !== undefined)
    throw new Advice('--minutes and --seed belong to --random');
  if (isRandom && (quick || names.length > 0))
    throw new Advice('--random is a run of its own: name no drills, and no --quick');
  const run = {
    seed: wholeNumber('--seed', seed, 0, seeds - 1),
    minutes: wholeNumber('--minutes', minutes, 1, longest),
  };
  return { list, quick, names, random: isRandom ? run : undefined };
}
