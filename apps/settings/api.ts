/** The settings of the API. */

import { checkPostgresAddress } from '#libs/base/config/postgres-address';
import { isSafeAddress, readSettings, refuse } from '#libs/base/config/read';
import type { Provider } from '#libs/tenants/contract';
import { personTokenKey } from '#libs/tenants/person-tokens';
import { fingerprintsOf } from './key-fingerprints.ts';
import {
  changeRate,
  currentRate,
  defaultReadRate,
  displayRate,
  failureRate,
  settings,
  type Values,
} from './settings.ts';
import {
  readAddressRule,
  readBasePath,
  readConnections,
  readPreviousSecretsKey,
  readPrivacyKey,
  readPublicUrl,
  readSecretsKey,
  readTracing,
  readWebhookReach,
} from './shared.ts';
import { readTokens } from './token-keys.ts';

function readDemo({ DEMO_DOMAIN: domainId, DEMO_API_KEY: apiKey }: Values) {
  if (domainId === undefined) return undefined;
  return { domainId, apiKey: apiKey ?? refuse('DEMO_API_KEY', 'set: the key of DEMO_DOMAIN') };
}

/** Undefined without a replica. */
function readReplica({ DATABASE_READ_URL: url, DATABASE_URL: primary, DATABASE_READ_MAX_LAG: seconds }: Values) {
  if (url === undefined || url === primary) return undefined;
  return { url: checkPostgresAddress('DATABASE_READ_URL', url), maxLag: seconds * 1_000 };
}

/** The OpenID Connect provider for sign-in to the dashboard; null if none is set. */
function readProvider(values: Values): Provider | null {
  const { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId, OIDC_SCOPES: scopes, OIDC_AUDIENCE: audience } = values;
  if (issuer === undefined) return clientId === undefined ? null : refuse('OIDC_ISSUER', 'set with OIDC_CLIENT_ID');
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

function readPlace(values: Values) {
  const { COUNTRY_HEADER, REGION_HEADER, REGION_COUNTRIES = [], GEOIP_FILE: geoipFile } = values;
  if (REGION_COUNTRIES.length > 0 && REGION_HEADER === undefined && geoipFile === undefined)
    refuse('REGION_COUNTRIES', 'unset where neither REGION_HEADER nor GEOIP_FILE is set');
  return {
    countryHeader: COUNTRY_HEADER?.toLowerCase(),
    regionHeader: REGION_HEADER?.toLowerCase(),
    regionCountries: new Set(REGION_COUNTRIES),
    geoipFile,
  };
}

/**
 * The keys of people's tokens. The first one signs: the previous key while there is one, since every process has it during a
 * rolling restart.
 */
function readPersonKeys(values: Values) {
  const keys = [readPreviousSecretsKey(values), readSecretsKey(values)];
  return values.PUBLIC_URL === undefined ? [] : keys.flatMap((key) => (key ? [personTokenKey(key)] : []));
}

export function readApiConfig(environment?: NodeJS.ProcessEnv) {
  const values = readSettings(settings, environment);
  const isLimited = values.RECORD_RATE_PER_MINUTE > 0;
  return {
    ...readConnections(values),
    tracing: readTracing(values),
    replica: readReplica(values),
    host: values.HOST,
    port: values.PORT,
    opsHost: values.OPS_HOST,
    opsPort: values.OPS_PORT ?? 3001,
    tokens: { ...readTokens(values), personKeys: readPersonKeys(values) },
    /** null: the dashboard only takes access tokens */
    oidc: readProvider(values),
    /** where people reach the service, without a trailing slash; undefined if not set */
    publicUrl: readPublicUrl(values),
    /** the path of the service on its host: '' at the root, or a prefix such as `/consent` */
    basePath: readBasePath(values),
    webConcurrency: values.WEB_CONCURRENCY,
    recordRatePerMinute: values.RECORD_RATE_PER_MINUTE,
    displayRatePerMinute: values.DISPLAY_RATE_PER_MINUTE ?? (isLimited ? displayRate : 0),
    readRatePerMinute: values.READ_RATE_PER_MINUTE ?? (isLimited ? defaultReadRate : 0),
    currentRatePerMinute: values.CURRENT_RATE_PER_MINUTE ?? (isLimited ? currentRate : 0),
    changeRatePerMinute: values.CHANGE_RATE_PER_MINUTE ?? changeRate,
    /** what an organization may create over HTTP; the command line has no limits */
    quotas: { domains: values.ORG_MAX_DOMAINS, webhooks: values.ORG_MAX_WEBHOOKS, keys: values.DOMAIN_MAX_KEYS },
    failureRatePerMinute: values.FAILURE_RATE_PER_MINUTE ?? (isLimited ? failureRate : 0),
    trustedProxyHops: values.TRUSTED_PROXY_HOPS,
    ip: readAddressRule(values),
    keys: fingerprintsOf(
      values,
      ['PRIVACY_KEY', 'SECRETS_KEY', 'IP_HASH_KEY'],
      ['PRIVACY_KEY', 'SECRETS_KEY', 'IP_HASH_KEY'],
    ),
    retentionMonths: values.RECORD_RETENTION_MONTHS,
    /** how the visitor's country and region are determined */
    place: readPlace(values),
    /** how often the worker seals; 0: never */
    sealSeconds: values.SEAL_SECONDS,
    /** 32 bytes; undefined: visitors' records can be neither listed nor erased */
    privacyKey: readPrivacyKey(values),
    secretsKey: readSecretsKey(values),
    previousSecretsKey: readPreviousSecretsKey(values),
    webhookReach: readWebhookReach(values),
    demo: readDemo(values),
  };
}

export type ApiConfig = ReturnType<typeof readApiConfig>;
