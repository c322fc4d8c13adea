import { generateKeyPairSync, type KeyPairKeyObjectResult } from 'node:crypto';
import jsonwebtoken from 'jsonwebtoken';
import { beforeAll, describe, expect, it } from 'vitest';
import { request } from '../support/client.ts';
import { type Api, startApi } from '../support/service.ts';
import { useStores } from '../support/stack.ts';
import { makeTenant } from '../support/stores.ts';

const inPem = ({ publicKey, privateKey }: KeyPairKeyObjectResult) => ({
  publicKey: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
  privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
});
const ecPair = () => inPem(generateKeyPairSync('ec', { namedCurve: 'P-256' }));
const rsa = inPem(generateKeyPairSync('rsa', { modulusLength: 2048 }));
const [current, previous, foreign] = [ecPair(), ecPair(), ecPair()];
const issued = { issuer: 'https://login.example', audience: 'assent' };

describe('with public keys', () => {
  let ec: Api;
  let rs: Api;
  /** knows its keys by name */
  let named: Api;
  let organizationId: string;

  beforeAll(async () => {
    const { db, env } = useStores();
    ({ organizationId } = await makeTenant(db));
    [ec, rs, named] = await Promise.all([
      startApi({
        ...env,
        JWT_ALGORITHM: 'ES256',
        JWT_PUBLIC_KEY: current.publicKey,
        JWT_PUBLIC_KEY_PREVIOUS: previous.publicKey,
        JWT_ISSUER: issued.issuer,
        JWT_AUDIENCE: issued.audience,
      }),
      // as a file of settings holds it, in one line
      startApi({ ...env, JWT_ALGORITHM: 'RS256', JWT_PUBLIC_KEY: rsa.publicKey.replaceAll('\n', '\\n') }),
      startApi({
        ...env,
        JWT_ALGORITHM: 'ES256',
        JWT_PUBLIC_KEY: current.publicKey,
        JWT_KEY_ID: 'new',
        JWT_PUBLIC_KEY_PREVIOUS: previous.publicKey,
        JWT_KEY_ID_PREVIOUS: 'old',
      }),
    ]);
  });

  const statusOf = async (api: Api, key: string, options: jsonwebtoken.SignOptions) => {
    const token = jsonwebtoken.sign({ sub: 'tester', org: organizationId }, key, { expiresIn: 60, ...options });
    const { status } = await request(api.baseUrl, '/v1/organization', {
      headers: { authorization: `Bearer ${token}` },
    });
    return status;
  };

  it.each<[string, number, string, jsonwebtoken.SignOptions]>([
    ['the current key', 200, current.privateKey, issued],
    ['the previous key', 200, previous.privateKey, issued],
    ['one audience of several', 200, current.privateKey, { ...issued, audience: ['other', 'assent'] }],
    ['a foreign key', 401, foreign.privateKey, issued],
    ['another issuer', 401, current.privateKey, { ...issued, issuer: 'https://evil.example' }],
    ['no issuer', 401, current.privateKey, { audience: 'assent' }],
    ['another audience', 401, current.privateKey, { ...issued, audience: 'other' }],
    ['no audience', 401, current.privateKey, { issuer: issued.issuer }],
  ])('ES256 with %s answers %i', async (_, status, key, options) => {
    expect(await statusOf(ec, key, { algorithm: 'ES256', ...options })).toBe(status);
  });

  it.each<[string, number, string, string | undefined]>([
    ['the current key by its name', 200, current.privateKey, 'new'],
    ['the previous key by its name', 200, previous.privateKey, 'old'],
    ['the current key without a name', 200, current.privateKey, undefined],
    ['the previous key without a name', 200, previous.privateKey, undefined],
    ["the current key by the other's name", 401, current.privateKey, 'old'],
    ['the current key by a name that is not listed', 401, current.privateKey, 'other'],
    ['the current key by an empty name', 401, current.privateKey, ''],
    ['the current key by a name from the prototype', 401, current.privateKey, 'constructor'],
    ['a foreign key by a name that is listed', 401, foreign.privateKey, 'new'],
  ])('where keys have names, %s answers %i', async (_, status, key, keyid) => {
    const options: jsonwebtoken.SignOptions = { algorithm: 'ES256', ...(keyid !== undefined && { keyid }) };
    expect(await statusOf(named, key, options)).toBe(status);
  });

  it('where keys have none, a name in the token means nothing', async () => {
    expect(await statusOf(rs, rsa.privateKey, { algorithm: 'RS256', keyid: 'whatever' })).toBe(200);
  });

  it('the public key is no secret to sign with', async () => {
    expect(await statusOf(ec, current.publicKey, { algorithm: 'HS256', ...issued })).toBe(401);
    expect(await statusOf(rs, rsa.publicKey, { algorithm: 'HS256' })).toBe(401);
  });

  it('RS256 takes its key and only its algorithm', async () => {
    expect(await statusOf(rs, rsa.privateKey, { algorithm: 'RS256' })).toBe(200);
    expect(await statusOf(rs, rsa.privateKey, { algorithm: 'RS512' })).toBe(401);
    expect(await statusOf(rs, current.privateKey, { algorithm: 'ES256' })).toBe(401);
  });
});
