import { expect, it } from 'vitest';
import { freePort } from '../../scripts/stack/ports.ts';

it('a free port is given to one asker alone, and to no connection while a server is restarted on it', async () => {
  const ports = await Promise.all(Array.from({ length: 300 }, freePort));
  expect(new Set(ports).size).toBe(ports.length);
  // the lowest that Linux gives by itself
  expect(Math.max(...ports)).toBeLessThan(32_768);
});
