import { expect, it } from 'vitest';
import { hashPassword, isPassword } from '#libs/people/passwords';

it('a password is stored with its own salt, under parameters that make guessing slow', async () => {
  const [one, other] = [await hashPassword('naïve lamps'), await hashPassword('naïve lamps')];
  expect(one).toMatch(/^scrypt\$15\$8\$3\$[\w+/]{22}==\$[\w+/]{43}=$/);
  expect(one).not.toBe(other);
  // however the keyboard writes it
  expect(await isPassword('nai\u0308ve lamps', one)).toBe(true);
  expect(await isPassword('naive lamps', one)).toBe(false);
});

it('a password that was stored under other parameters is still right', async () => {
  const before = await hashPassword('lamps', { log2n: 4, r: 8, p: 1 });
  expect([await isPassword('lamps', before), await isPassword('lamp', before)]).toEqual([true, false]);
});

it('nobody has no password', async () => {
  expect(await isPassword('', undefined)).toBe(false);
});
