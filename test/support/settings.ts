/** What the tests start the processes with. */

/** 32 bytes and more, for these processes alone. */
export const jwtSecret = 'a secret that only the tests of this project use';

/** An API's, unless a test says otherwise. Every test comes from one address, so nothing is limited. */
export const apiSettings = {
  PORT: '0',
  OPS_PORT: '0',
  HOST: '127.0.0.1',
  JWT_SECRET: jwtSecret,
  RECORD_RATE_PER_MINUTE: '0',
};
