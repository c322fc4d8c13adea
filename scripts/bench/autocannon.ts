/** One run of autocannon, in a process of its own: its one argument is the load, its last line the result. */
import autocannon from 'autocannon';
import { makeBody, type Site, siteOf, userAgent, visitorNumber } from './bodies.ts';
import type { Load } from './load.ts';

const { baseUrl, seconds, connections, send } = JSON.parse(process.argv[2] ?? '{}') as Load & {
  connections: number;
};

const posts = (sites: Site[]): autocannon.Request[] =>
  Array.from({ length: 20_000 }, (_, index) => {
    const { domainId, apiKey } = siteOf(sites, index);
    return {
      method: 'POST',
      path: `/v1/consent/${domainId}/record`,
      headers: { 'content-type': 'application/json', 'user-agent': userAgent, 'x-api-key': apiKey },
      body: JSON.stringify(makeBody(index, visitorNumber(index))),
    };
  });

const gets = (paths: string[], token: string): autocannon.Request[] =>
  paths.map((path) => ({ method: 'GET', path, headers: { authorization: `Bearer ${token}` } }));

const result = await autocannon({
  url: baseUrl,
  connections,
  duration: seconds,
  requests: 'sites' in send ? posts(send.sites) : gets(send.paths, send.token),
});
process.stdout.write(`RESULT ${result.requests.average} ${result.non2xx + result.errors}\n`);
