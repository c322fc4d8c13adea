import { InvalidArgumentError } from 'commander';

/** Parses an option's value, from `min` to `max`. */
export const wholeNumber =
  (max = Number.MAX_SAFE_INTEGER, min = 1) =>
  (text: string): number => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= min && value <= max) return value;
    throw new InvalidArgumentError(`must be a whole number from ${min} to ${max}`);
  };
