/** One run of autocannon, in a process of its own: its one argument is the load, its last line the result. */
import autocannon from 'autocannon';
import { addressOf, makeBody, siteOf, userAgent, visitorNumber } from './bodies.ts';
import type { Load, Records } from './load.ts';

const given = JSON.parse(process.argv[2] ?? '{}') as Load & { connections: number };
const { baseUrl, seconds, connections, send } = given;

/** Made before the clock runs; each is sent anew, whichever connection it goes through. */
const requests: Partial<autocannon.Request>[] =
  'sites' in send
    ? Array.from({ length: 20_000 }, (_, index) => post(send, index))
    : send.paths.map((path) => ({ path, headers: { authorization: `Bearer ${send.token}` } }));

function post({ sites, addresses, origin }: Records, index: number): Partial<autocannon.Request> {
  const { domainId, apiKey } = siteOf(sites, index);
  const visitor = visitorNumber(index);
  return {
    path: `/v1/consent/${domainId}/record`,
    headers: {
      'content-type': 'application/json',
      'user-agent': userAgent,
      'x-api-key': apiKey,
      ...(addresses && { 'x-forwarded-for': addressOf(visitor) }),
      ...(origin && { origin }),
    },
    body: JSON.stringify(makeBody(index, visitor)),
  };
}

let sent = 0;
const result = await autocannon({
  url: baseUrl,
  connections,
  duration: seconds,
  timeout: 30,
  method: 'sites' in send ? 'POST' : 'GET',
  requests: [{ setupRequest: (request) => ({ ...request, ...requests[sent++ % requests.length] }) }],
});
process.stdout.write(`RESULT ${result.requests.average} ${result.non2xx + result.errors}\n`);
