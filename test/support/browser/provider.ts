/** An OpenID Connect provider that signs anybody in. */
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import jsonwebtoken from 'jsonwebtoken';
import Provider, { type Configuration } from 'oidc-provider';
import { atEnd } from '../at-end.ts';

export const audience = 'https://assent.example/api';

/**
 * Its access tokens are of the organization `org`, and good for ten minutes. `tokenOf`: what it would give to somebody of
 * another one. `trouble`: what answers in place of the provider, by path. `redirectTo`: the dashboard, from then on.
 */
export async function startProvider(org: string) {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  atEnd(() => {
    server.closeAllConnections();
    server.close();
  });
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const configurationFor = (redirectTo: string): Configuration => ({
    clients: [
      {
        client_id: 'dashboard',
        token_endpoint_auth_method: 'none',
        redirect_uris: [`${redirectTo}/sign-in`],
        post_logout_redirect_uris: [`${redirectTo}/`],
        grant_types: ['authorization_code', 'refresh_token'],
      },
    ],
    scopes: ['openid', 'offline_access', 'read', 'manage'],
    clientBasedCORS: () => true,
    extraTokenClaims: () => ({ org }),
    jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), kty: 'RSA', kid: 'test', use: 'sig', alg: 'RS256' }] },
    findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
    features: {
      resourceIndicators: {
        enabled: true,
        defaultResource: () => audience,
        useGrantedResource: () => true,
        getResourceServerInfo: () => ({
          scope: 'read manage',
          audience,
          accessTokenFormat: 'jwt',
          accessTokenTTL: 600,
          jwt: { sign: { alg: 'RS256' } },
        }),
      },
    },
  });
  let provider: RequestListener = (_, response) => void response.writeHead(503).end();
  const redirectTo = (baseUrl: string) => {
    provider = new Provider(issuer, configurationFor(baseUrl)).callback();
  };
  const trouble = new Map<string, RequestListener>();
  server.on('request', (request, response) =>
    (trouble.get(request.method === 'OPTIONS' ? '' : (request.url ?? '')) ?? provider)(request, response),
  );
  const tokenOf = (organizationId: string, sub: string) =>
    jsonwebtoken.sign({ sub, org: organizationId, scope: 'read manage' }, privateKey, {
      algorithm: 'RS256',
      keyid: 'test',
      issuer,
      audience,
      expiresIn: 600,
    });
  return { issuer, trouble, redirectTo, tokenOf };
}
