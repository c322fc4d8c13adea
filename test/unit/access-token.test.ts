import { generateKeyPairSync } from 'node:crypto';
import jsonwebtoken from 'jsonwebtoken';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { TokenConfig } from '#libs/config/token-keys';
import { type AccessTokens, createAccessTokens } from '../../apps/api/access/access-token.ts';

const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const config: TokenConfig = {
  algorithm: 'RS256',
  keys: [publicKey],
  keysById: new Map(),
  keyId: undefined,
  issuer: undefined,
  audience: undefined,
  jwksUrl: undefined,
  orgClaim: 'org',
  scopeClaim: 'scope',
};
const remember = async (tokens: AccessTokens, token: string) => {
  const access = await tokens.verify(token);
  tokens.remember(token, access);
  return access;
};
const tokenOf = (jti: string) =>
  jsonwebtoken.sign({ sub: 'tester', org: 'org_a', jti }, privateKey, { algorithm: 'RS256', expiresIn: 60 });

describe('access tokens', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['Date'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('are known once they were found good, and only as they were', async () => {
    const tokens = createAccessTokens(config);
    const token = tokenOf('one');
    expect(tokens.known(token)).toBeUndefined();
    const access = await remember(tokens, token);
    expect(access).toMatchObject({ organizationId: 'org_a' });
    expect(tokens.known(token)).toEqual(access);
    const [header, payload, signature = ''] = token.split('.');
    const forged = `${header}.${payload}.${signature.split('').reverse().join('')}`;
    for (const other of [forged, `${header}.${payload}.`, `${token}A`, tokenOf('other')])
      expect(tokens.known(other)).toBeUndefined();
    await expect(tokens.verify(forged)).rejects.toThrow();
    expect(tokens.known(forged)).toBeUndefined();
  });

  it('are not known where they were only verified, or forgotten since', async () => {
    const tokens = createAccessTokens(config);
    const token = tokenOf('one');
    await tokens.verify(token);
    expect(tokens.known(token)).toBeUndefined();
    await remember(tokens, token);
    tokens.forget(token);
    expect(tokens.known(token)).toBeUndefined();
  });

  it('are known until they expire, with the tolerance of clocks', async () => {
    const tokens = createAccessTokens(config);
    const token = tokenOf('one');
    await remember(tokens, token);
    vi.advanceTimersByTime(85_000);
    expect(tokens.known(token)).toBeDefined();
    vi.advanceTimersByTime(6_000);
    expect(tokens.known(token)).toBeUndefined();
    await expect(tokens.verify(token)).rejects.toThrow('expired');
  });

  it('are known in a bounded number: those that came last', async () => {
    const tokens = createAccessTokens(config);
    const token = tokenOf('one');
    const access = await remember(tokens, token);
    for (let n = 0; n < 10_000; n += 1) tokens.remember(`other-${n}`, access);
    expect(tokens.known(token)).toBeUndefined();
    expect(tokens.known('other-9999')).toEqual(access);
  });

  it('are counted as one, however the unused bits at the end of the signature are spelled', async () => {
    const tokens = createAccessTokens(config);
    const token = tokenOf('one');
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    const last = alphabet.indexOf(token.slice(-1));
    const respelled = `${token.slice(0, -1)}${alphabet[last ^ 1]}`;
    expect(respelled).not.toBe(token);
    const countedAs = async (each: string) => (await tokens.verify(each)).countedAs;
    expect(await countedAs(respelled)).toBe(await countedAs(token));
    expect(await countedAs(tokenOf('other'))).not.toBe(await countedAs(token));
  });
});
