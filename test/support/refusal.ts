import { expect } from 'vitest';
import { BadSetting } from '#libs/base/config/read';

/** The one line that stops a process whose settings are read. */
export function refusal(read: () => unknown): string {
  try {
    read();
  } catch (error) {
    if (!(error instanceof BadSetting)) throw error;
    expect(error.message).not.toMatch(/\n/);
    return error.message;
  }
  throw new Error('it was accepted');
}
