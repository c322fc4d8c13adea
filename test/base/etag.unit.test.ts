import { describe, expect, it } from 'vitest';
import type { Context } from '#libs/base/http/context';
import { hasTag, requiredVersion } from '#libs/base/http/etag';

const asking = (headers: Record<string, string>) =>
  ({ get: (name: string) => headers[name] ?? '' }) as unknown as Context;

describe('an entity tag', () => {
  // Apache's mod_deflate, older ones, Jetty, nginx and Brotli modules
  it.each(['"1"', 'W/"1"', '"1-gzip"', '"1;gzip"', 'W/"1-br"', '"1--gzip"', '"1-gzip-gzip"'])(
    'is known again as %s, as a proxy that compresses writes it',
    (tag) => {
      expect(requiredVersion(asking({ 'if-match': tag }), { version: 1 })).toBe(1);
      expect(hasTag(asking({ 'if-none-match': `"x", ${tag}` }), '"1"')).toBe(true);
    },
  );

  it.each(['"2-gzip"', '"1-zip"', '"1-gzip-x"', '"-gzip1"', '"gzip"'])('is not known as %s', (tag) => {
    expect(() => requiredVersion(asking({ 'if-match': tag }), { version: 1 })).toThrow(/changed/);
    expect(hasTag(asking({ 'if-none-match': tag }), '"1"')).toBe(false);
  });

  it('of a file that is sent compressed is its own', () => {
    for (const tag of ['"abc-gzip"', 'W/"abc-gzip"', '"abc-gzip-gzip"'])
      expect(hasTag(asking({ 'if-none-match': tag }), '"abc-gzip"')).toBe(true);
  });
});
