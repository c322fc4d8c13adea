/** What the tests start the API and the worker with. */

/** 32 bytes and more, for these alone. */
export const jwtSecret = 'a secret that only the tests of this project use';

/** For the visitors' endpoints, for these alone. */
export const privacyKey = '0123456789abcdef'.repeat(4);

/** For the secrets of webhooks, for these alone. */
export const secretsKey = 'fedcba9876543210'.repeat(4);

/** An API's, unless a test says otherwise. Every test comes from one address, so nothing is limited. */
export const apiSettings = {
  PORT: '0',
  OPS_PORT: '0',
  HOST: '127.0.0.1',
  JWT_SECRET: jwtSecret,
  PRIVACY_KEY: privacyKey,
  SECRETS_KEY: secretsKey,
  RECORD_RATE_PER_MINUTE: '0',
  CHANGE_RATE_PER_MINUTE: '0',
};

/** A worker's, likewise. */
export const workerSettings = { OPS_PORT: '0', PRIVACY_KEY: privacyKey, SECRETS_KEY: secretsKey };
