/** Sign-in with an OpenID Connect provider: authorization code with PKCE, without a secret. Loaded when it is needed. */
import * as oauth from 'oauth4webapi';
import type { Provider } from '#libs/tenants/contract';
import { homeAddress, signInAddress } from '../data/router.ts';
import { type ProviderTokens, storePending, storeProviderTokens, takePending } from './provider-session.ts';

/** With a message for the person who signs in. */
class SignInFailed extends Error {}

/** bytes of a response; the provider's usual ones have a few kilobytes */
const longestResponse = 256 * 1024;

class TooLong extends Error {}

async function boundedFetch(address: string, init: object): Promise<Response> {
  const { body, status, headers } = await fetch(address, init);
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  const reader = body?.getReader();
  for (let bytes = 0; reader; ) {
    const { done, value } = await reader.read();
    if (done) break;
    bytes += value.length;
    if (bytes > longestResponse) {
      void reader.cancel();
      throw new TooLong(`more than ${longestResponse} bytes`);
    }
    chunks.push(value);
  }
  return new Response(chunks.length > 0 ? new Blob(chunks) : null, { status, headers });
}

const redirectUri = () => location.origin + signInAddress;
const clientOf = ({ clientId }: Provider): oauth.Client => ({ client_id: clientId });

/** A local provider for trying out has no TLS. */
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

/** Providers differ in the parameter's name: `audience`, or `resource` (RFC 8707). */
function audienceOf({ audience }: Provider): Record<string, string> {
  if (audience === null) return {};
  return URL.canParse(audience) ? { audience, resource: audience } : { audience };
}

/** Leaves the page. */
export const goToProvider = (provider: Provider, returnTo: string): Promise<void> =>
  withMessage(async () => {
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
      // providers issue a refresh token only with consent
      ...(provider.scopes.includes('offline_access') && { prompt: 'consent' }),
      ...audienceOf(provider),
    };
    for (const [name, value] of Object.entries(parameters)) to.searchParams.set(name, value);
    storePending(pending);
    location.assign(to);
  });

/** `address`: the one that the provider redirected the browser to. */
export const completeSignIn = (provider: Provider, address: URL): Promise<{ token: string; returnTo: string }> =>
  withMessage(async () => {
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
    storeProviderTokens({ refreshToken: tokens.refresh_token ?? null, idToken: tokens.id_token ?? null });
    return { token: tokens.access_token, returnTo: pending.returnTo };
  });

/** Stores nothing. */
export const refresh = (provider: Provider, refreshToken: string): Promise<{ token: string } & ProviderTokens> =>
  withMessage(async () => {
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

/** The page that ends the provider's session as well; null if the provider has none. */
export async function signOutAddress(provider: Provider, idToken: string | null): Promise<string | null> {
  const { end_session_endpoint: endpoint } = await discover(provider);
  if (!endpoint) return null;
  const to = new URL(endpoint);
  to.searchParams.set('client_id', provider.clientId);
  to.searchParams.set('post_logout_redirect_uri', location.origin + homeAddress);
  if (idToken !== null) to.searchParams.set('id_token_hint', idToken);
  return to.href;
}

async function withMessage<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof SignInFailed ? error : new SignInFailed(wordsFor(error), { cause: error });
  }
}

/** The response is not OpenID Connect at all, such as a proxy's page. */
const foreignResponse = new Set<string>([oauth.RESPONSE_IS_NOT_JSON, oauth.RESPONSE_IS_NOT_CONFORM, oauth.PARSE_ERROR]);

function wordsFor(error: unknown): string {
  if (error instanceof oauth.AuthorizationResponseError) {
    if (error.error === 'access_denied') return 'The sign-in was cancelled.';
    return `The identity provider refused the sign-in: ${error.error_description ?? error.error}.`;
  }
  if (error instanceof oauth.ResponseBodyError) {
    return `The identity provider refused the sign-in: ${error.error_description ?? error.error}.`;
  }
  if (
    error instanceof TooLong ||
    (error instanceof oauth.OperationProcessingError && foreignResponse.has(error.code ?? ''))
  )
    return 'The identity provider sent an unusable response. Try again, or contact its operator.';
  if (error instanceof oauth.OperationProcessingError) {
    return 'The identity provider sent a response that does not belong to this sign-in. Sign in again.';
  }
  return 'The identity provider cannot be reached. Try again in a moment.';
}
