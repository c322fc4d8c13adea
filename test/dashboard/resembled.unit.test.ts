import { expect, it } from 'vitest';
import { resembled } from '../../apps/dashboard/parts/resembled.ts';

const own = ['https://www.shop.example', 'https://*.bakery.co.uk', 'capacitor://localhost'];

it.each([
  ['https://sh0p.example', own[0]],
  ['https://shopp.example', own[0]],
  ['https://shpo.example', own[0]],
  ['https://shop-example.com', own[0]],
  ['https://shop.example.evil.test', own[0]],
  ['https://my-shop.test', own[0]],
  ['https://www.bak-ery.com', own[1]],
  ['https://bakery.com', own[1]],
  // the same website, or none of them
  ['http://shop.example', undefined],
  ['https://blog.shop.example', undefined],
  ['https://bakery.co.uk', undefined],
  ['https://cafe.co.uk', undefined],
  ['https://other.example', undefined],
  ['https://a.b', undefined],
])('%s looks like %s', (origin, like) => {
  expect(resembled(origin, own)).toBe(like);
});

it('an empty list has nothing to look like', () => {
  expect(resembled('https://shop.example', [])).toBeUndefined();
});
