/** One run of autocannon, in a process of its own: its one argument is the load, its output the result. */
import autocannon from 'autocannon';
import { makeBody, userAgent } from './bodies.ts';
import type { Load, Measured } from './load.ts';

const { url, headers, connections, seconds } = JSON.parse(process.argv[2] ?? '{}') as Load;

const result = await autocannon({
  url,
  method: 'POST',
  connections,
  duration: seconds,
  headers: { 'content-type': 'application/json', 'user-agent': userAgent, ...headers },
  requests: Array.from({ length: 2_000 }, (_, index) => ({ body: makeBody(index) })),
});
const measured: Measured = {
  requestsPerSecond: result.requests.average,
  failed: result.non2xx + result.errors,
};
process.stdout.write(JSON.stringify(measured));
