/** Sign-in with an OpenID Connect provider: authorization code with PKCE, without a secret. Loaded when it is needed. */
import * as oauth from 'oauth4webapi';
import type { Provider } from '#libs/tenants/contract';
import { homeAddress, signInAddress } from '../data/router.ts';
import { boundedFetch, TooLong } from './bounded-fetch.ts';
import { keepPending, keepProviderTokens, type ProviderTokens, takePending } from './provider-session.ts';

/** In words for whoever signs in. */
class SignInFailed extends Error {}

const redirectUri = () => location.origin + signInAddress;
const clientOf = ({ clientId }: Provider): oauth.Client => ({ client_id: clientId });

/** A provider on this machine, to try it out, has no TLS. */
const optionsFor = ({ issuer }: Provider) => ({
  [oauth.allowInsecureRequests]: issuer.startsWith('http:'),
  [oauth.customFetch]: boundedFetch,
  signal: AbortSignal.timeout(10_000),
});

async function discover(provider: Provider): Promise<oauth.AuthorizationServer> {
  const issuer = new URL(provider.issuer);
  const response = await oauth.discoveryRequest(issuer, { algorithm: 'oidc', ...optionsFor(provider) });
  return oauth.processDiscoveryResponse(issuer, response);
}

/** Some providers know whom a token is for by the one name, some by the other (RFC 8707). */
function audienceOf({ audience }: Provider): Record<string, string> {
  if (audience === null) return {};
  return URL.canParse(audience) ? { audience, resource: audience } : { audience };
}

/** Leaves the page. */
export const goToProvider = (provider: Provider, returnTo: string): Promise<void> =>
  inWords(async () => {
    const { authorization_endpoint: endpoint } = await discover(provider);
    if (!endpoint) throw new SignInFailed('The identity provider does not offer this way of signing in.');
    const pending = {
      state: oauth.generateRandomState(),
      nonce: oauth.generateRandomNonce(),
      verifier: oauth.generateRandomCodeVerifier(),
      returnTo,
    };
    const to = new URL(endpoint);
    const parameters = {
      client_id: provider.clientId,
      redirect_uri: redirectUri(),
      response_type: 'code',
      scope: provider.scopes.join(' '),
      state: pending.state,
      nonce: pending.nonce,
      code_challenge: await oauth.calculatePKCECodeChallenge(pending.verifier),
      code_challenge_method: 'S256',
      // a refresh token is given only with consent
      ...(provider.scopes.includes('offline_access') && { prompt: 'consent' }),
      ...audienceOf(provider),
    };
    for (const [name, value] of Object.entries(parameters)) to.searchParams.set(name, value);
    keepPending(pending);
    location.assign(to);
  });

/** With the address that the provider sent the browser back to. */
export const comeBack = (provider: Provider, address: URL): Promise<{ token: string; returnTo: string }> =>
  inWords(async () => {
    const pending = takePending();
    if (!pending) throw new SignInFailed('This sign-in was not begun in this tab, or is over. Sign in again.');
    const [server, client] = [await discover(provider), clientOf(provider)];
    const parameters = oauth.validateAuthResponse(server, client, address, pending.state);
    const response = await oauth.authorizationCodeGrantRequest(
      server,
      client,
      oauth.None(),
      parameters,
      redirectUri(),
      pending.verifier,
      { additionalParameters: audienceOf(provider), ...optionsFor(provider) },
    );
    const tokens = await oauth.processAuthorizationCodeResponse(server, client, response, {
      expectedNonce: pending.nonce,
      requireIdToken: true,
    });
    keepProviderTokens({ refreshToken: tokens.refresh_token ?? null, idToken: tokens.id_token ?? null });
    return { token: tokens.access_token, returnTo: pending.returnTo };
  });

/** A new access token, with what else the provider gives; nothing is kept. */
export const refresh = (provider: Provider, refreshToken: string): Promise<{ token: string } & ProviderTokens> =>
  inWords(async () => {
    const [server, client] = [await discover(provider), clientOf(provider)];
    const response = await oauth.refreshTokenGrantRequest(server, client, oauth.None(), refreshToken, {
      additionalParameters: audienceOf(provider),
      ...optionsFor(provider),
    });
    const tokens = await oauth.processRefreshTokenResponse(server, client, response);
    return {
      token: tokens.access_token,
      refreshToken: tokens.refresh_token ?? null,
      idToken: tokens.id_token ?? null,
    };
  });

/** Where the session at the provider ends, too; null where the provider has no such address. */
export async function signOutAddress(provider: Provider, idToken: string | null): Promise<string | null> {
  const { end_session_endpoint: endpoint } = await discover(provider);
  if (!endpoint) return null;
  const to = new URL(endpoint);
  to.searchParams.set('client_id', provider.clientId);
  to.searchParams.set('post_logout_redirect_uri', location.origin + homeAddress);
  if (idToken !== null) to.searchParams.set('id_token_hint', idToken);
  return to.href;
}

async function inWords<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof SignInFailed ? error : new SignInFailed(wordsFor(error), { cause: error });
  }
}

/** What is no answer of the protocol at all, such as a page of a proxy. */
const noAnswer = new Set<string>([oauth.RESPONSE_IS_NOT_JSON, oauth.RESPONSE_IS_NOT_CONFORM, oauth.PARSE_ERROR]);

function wordsFor(error: unknown): string {
  if (error instanceof oauth.AuthorizationResponseError) {
    if (error.error === 'access_denied') return 'The sign-in was cancelled.';
    return `The identity provider refused the sign-in: ${error.error_description ?? error.error}.`;
  }
  if (error instanceof oauth.ResponseBodyError) {
    return `The identity provider refused the sign-in: ${error.error_description ?? error.error}.`;
  }
  if (error instanceof TooLong || (error instanceof oauth.OperationProcessingError && noAnswer.has(error.code ?? '')))
    return 'The identity provider sent something else than an answer. Try again, or tell whoever runs it.';
  if (error instanceof oauth.OperationProcessingError) {
    return 'The identity provider sent an answer that does not belong to this sign-in. Sign in again.';
  }
  return 'The identity provider cannot be reached. Try again in a moment.';
}
