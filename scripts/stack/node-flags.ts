/**
 * Node's flags for the API and the worker. A record lives until Redis has answered, and with the default young
 * generation (16 MB) most are copied twice until then. package.json, the image and docker-compose.yml say the same.
 */
export const nodeFlags = ['--max-semi-space-size=32'];
