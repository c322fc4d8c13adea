import { afterEach, describe, expect, it, vi } from 'vitest';
import { waitAfter, withJitter } from '../../apps/widget/backoff.ts';

describe('the wait after a failure', () => {
  afterEach(() => {
    vi.restoreAllMocks();
  });

  it('is half as long again at most, and another one in each browser, however coarse its clock', () => {
    // to the millisecond, as in Firefox and Safari
    vi.spyOn(performance, 'now').mockReturnValue(1_234);
    const waits = Array.from({ length: 100 }, () => withJitter(waitAfter(0)));
    for (const wait of waits) {
      expect(wait).toBeGreaterThan(1_000);
      expect(wait).toBeLessThanOrEqual(1_500);
    }
    expect(new Set(waits).size).toBeGreaterThan(50);
  });
});
