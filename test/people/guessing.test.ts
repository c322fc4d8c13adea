/** Passwords are guessed slowly, and nobody locks out whom they guess. */
import { beforeAll, describe, expect, it } from 'vitest';
import { usualCost } from '#libs/people/passwords';
import { holdTheMinute } from '../support/clock.ts';
import { sampleOf } from '../support/metrics.ts';
import { addPasskey, makePasskey, signInOptions, signInWith } from '../support/passkeys.ts';
import { accountSettings, joinedAs, openBrowser, origin } from '../support/people.ts';
import { expectProblem } from '../support/problems.ts';
import { startApi } from '../support/service.ts';
import { useStackWithApi } from '../support/stack.ts';
import { eventually } from '../support/wait.ts';

const stack = await useStackWithApi({ env: accountSettings });
const limits = { FAILURE_RATE_PER_MINUTE: '300', TRUSTED_PROXY_HOPS: '1' };
const api = await startApi({ ...stack.env, ...accountSettings, ...limits });
const { organizationId } = stack.tenant;
const from = (address: string) => openBrowser(api.baseUrl, { origin, 'x-forwarded-for': address });
const someone = async () => (await joinedAs(stack.db, stack.api.baseUrl, { organizationId })).email;
/** Guesses one after the other. */
async function guess(email: string, addresses: string[]): Promise<number[]> {
  const statuses: number[] = [];
  for (const address of addresses) statuses.push((await from(address).signIn(email, 'wrong')).status);
  return statuses;
}
const times = (count: number, of: string) => Array.from({ length: count }, () => of);

beforeAll(() => void holdTheMinute());

it('the same is computed for an address that nobody has, and counted', async () => {
  const hashes = () => sampleOf(api.opsUrl, 'assent_password_hashes_total');
  const counted = async (email: string) => {
    const before = await hashes();
    expect((await from('192.0.2.1').signIn(email, 'wrong')).status).toBe(401);
    return (await hashes()) - before;
  };
  expect([await counted(await someone()), await counted('nobody@example.com')]).toEqual([1, 1]);
  expect(await sampleOf(api.opsUrl, 'assent_failed_sign_ins_total{with="password"}')).toBe(2);
});

it('ten failures from one network end guessing there, for that account alone, known or not', async () => {
  const email = await someone();
  expect(await guess(email, [...times(9, '198.51.100.1'), '198.51.100.200'])).toEqual(times(10, '').map(() => 401));
  const refused = await from('198.51.100.2').signIn(email);
  expectProblem(refused, 429, 'rate_limited');
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(60);
  expect((await from('198.51.101.1').signIn(email)).status).toBe(200);
  expect((await from('198.51.100.1').signIn(await someone())).status).toBe(200);
  expect((await guess('nobody@example.com', times(11, '2001:db8::1'))).at(-1)).toBe(429);
  expect((await from('2001:db8:0:ffff::1').signIn('nobody@example.com', 'wrong')).status).toBe(429);
});

it('the right password is no failure', async () => {
  const email = await someone();
  for (let round = 0; round < 11; round += 1) expect((await from('203.0.113.1').signIn(email)).status).toBe(200);
});

it('links and sessions are not guessed either, and a passkey signs in where that was tried', async () => {
  const own = await startApi({ ...stack.env, ...accountSettings, FAILURE_RATE_PER_MINUTE: '3' });
  const browser = openBrowser(own.baseUrl);
  const { browser: theirs, token, email } = await joinedAs(stack.db, own.baseUrl, { organizationId });
  const passkey = await addPasskey(theirs, token);
  for (let tried = 0; tried < 4; tried += 1) expect((await signInWith(browser, makePasskey())).status).toBe(401);
  browser.jar.cookie = '__Host-assent=guessed';
  const statuses = [];
  for (const [path, body] of [
    [
      'setup',
      { setup: 'guessed', organization: 'a', name: 'b', email: 'c@d.ef', password: 'x'.repeat(12), domain: 'd' },
    ],
    ['invitation', { invite: 'guessed' }],
    ['renew', {}],
    ['renew', {}],
  ] as const)
    statuses.push((await browser.post(`sign-in/${path}`, body)).status);
  expect(statuses).toEqual([401, 401, 401, 429]);
  expect((await browser.signIn(email)).status).toBe(429);
  expect((await signInWith(browser, passkey)).status).toBe(200);
  expect(await sampleOf(own.opsUrl, 'assent_failed_sign_ins_total{with="passkey"}')).toBe(4);
});

describe('many at once', () => {
  it('from one network wait for each other, and are refused beyond that; others get their turn', async () => {
    // long enough that the first is not done before the last has come
    const slow = await startApi(
      { ...stack.env, ...accountSettings, ...limits },
      { passwordCost: { ...usualCost, log2n: 14 } },
    );
    const at = (address: string) => openBrowser(slow.baseUrl, { origin, 'x-forwarded-for': address });
    const email = await someone();
    const flood = Array.from({ length: 14 }, (_, index) => at('192.0.2.77').signIn(`x${index}@example.com`, 'wrong'));
    const other = at('192.0.2.78').signIn(email);
    const statuses = (await Promise.all(flood)).map(({ status }) => status);
    expect(statuses).toContain(429);
    expect((await other).status).toBe(200);
  });

  it('with passkeys from one network wait for each other, and are refused beyond that; others get their turn', async () => {
    const statuses: number[] = [];
    // what takes time on a slow machine comes before the lock
    const prepare = async (address: string) => {
      const browser = from(address);
      const body = { credential: makePasskey().signed(await signInOptions(browser)) };
      return async () => statuses.push((await browser.post('sign-in/passkey/verify', body)).status);
    };
    const [other, ...flood] = await Promise.all(['192.0.2.80', ...times(24, '192.0.2.79')].map(prepare));
    const sent = await stack.db.transaction(async (sql) => {
      await sql`lock table person_passkeys in access exclusive mode`;
      const flooded = flood.map((send) => send());
      await eventually(() => expect(statuses).toEqual([429, 429]));
      return [...flooded, other?.()];
    });
    await Promise.all(sent);
    expect(statuses.slice(2)).toEqual(times(23, '').map(() => 401));
  });

  it('from many networks at one account leave its owner in: by passkey at once, by password within a minute', async () => {
    const slow = await startApi(
      { ...stack.env, ...accountSettings, ...limits },
      { passwordCost: { ...usualCost, log2n: 12 } },
    );
    const at = (address: string) => openBrowser(slow.baseUrl, { origin, 'x-forwarded-for': address });
    const { browser, token, email } = await joinedAs(stack.db, slow.baseUrl, { organizationId });
    const passkey = await addPasskey(browser, token);
    let isIn = false;
    const guessed: number[] = [];
    const flood = Array.from({ length: 40 }, async (_, network) => {
      while (!isIn) guessed.push((await at(`10.1.${network}.1`).signIn(email, 'wrong')).status);
    });
    const owner = at('10.9.9.9');
    try {
      await eventually(() => expect(guessed.filter((status) => status === 401).length).toBeGreaterThan(20));
      expect((await signInWith(owner, passkey)).status).toBe(200);
      const minute = { within: 60_000, every: 2_000 };
      await eventually(async () => expect((await owner.signIn(email)).status).toBe(200), minute);
    } finally {
      isIn = true;
      await Promise.all(flood);
    }
  });
});
