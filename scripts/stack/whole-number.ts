import { Advice } from './advice.ts';

/** The value of an option. `name`: such as `--records` */
export function wholeNumber(name: string, text: string, least: number, most: number): number {
  const number = Number(text);
  if (/^\d+$/.test(text) && number >= least && number <= most) return number;
  throw new Advice(`${name} is a whole number from ${least} to ${most}, not ${JSON.stringify(text)}`);
}
