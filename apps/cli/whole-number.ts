import { InvalidArgumentError } from 'commander';

/** An option's value, from 1 to `max`. */
export const wholeNumber =
  (max = Number.MAX_SAFE_INTEGER) =>
  (text: string): number => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= 1 && value <= max) return value;
    throw new InvalidArgumentError(`must be a whole number from 1 to ${max}`);
  };
