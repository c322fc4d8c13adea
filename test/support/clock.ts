/** The clock by which limits count. */
import { vi } from 'vitest';
import { atEnd } from './at-end.ts';

/**
 * What this process measures of time passes a hundred times slower, so that no minute of a limit ends meanwhile: until the
 * file ends, or what is returned is called.
 */
export function holdTheMinute(): () => void {
  const now = performance.now.bind(performance);
  const start = now();
  const held = vi.spyOn(performance, 'now').mockImplementation(() => start + (now() - start) / 100);
  const release = () => void held.mockRestore();
  atEnd(release);
  return release;
}
