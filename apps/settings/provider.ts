/** The OpenID Connect provider by which people sign in to the dashboard. */

import { isSafeAddress, refuse } from '#libs/base/config/read';
import type { Provider } from '#libs/tenants/sign-in';
import type { Values } from './settings.ts';

/** Null where none is set. */
export function readProvider(values: Values): Provider | null {
  const { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId, OIDC_SCOPES: scopes, OIDC_AUDIENCE: audience } = values;
  if (issuer === undefined) return null;
  if (!isSafeAddress(issuer)) refuse('OIDC_ISSUER', 'an address that begins with https://');
  if (new URL(issuer).search !== '' || new URL(issuer).hash !== '') {
    refuse('OIDC_ISSUER', 'an address without a query and a fragment');
  }
  return {
    issuer,
    clientId: clientId ?? refuse('OIDC_CLIENT_ID', 'set with OIDC_ISSUER'),
    scopes: scopes.includes('openid') ? scopes : refuse('OIDC_SCOPES', 'a list with openid in it'),
    audience: audience ?? null,
  };
}
