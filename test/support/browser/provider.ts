/** An OpenID Connect provider that signs anybody in. */
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider, { type Configuration } from 'oidc-provider';
import { atEnd } from '../at-end.ts';

export const audience = 'https://assent.example/api';

/**
 * Its access tokens have `claims`, and are good for ten minutes. `trouble`: what answers in place of the provider, by path.
 * `redirectTo`: the dashboard, from then on.
 */
export async function startProvider(claims: Record<string, string>) {
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
    extraTokenClaims: () => claims,
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
  return { issuer, trouble, redirectTo };
}
