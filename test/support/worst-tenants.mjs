/**
 * Organizations at their worst, in a process of their own: each holds open and makes wait all that it may, until this process
 * is told to end. Its work is paced, so that processors have time left: those have no shares, places have. Says each second
 * how often which kind of request was answered with success.
 */
import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

const { baseUrl, organizations } = JSON.parse(process.argv[2]);
const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });
const done = {};

const headersOf = ({ token, key, type = 'application/json' }) => ({
  'accept-encoding': 'identity',
  'content-type': type,
  ...(token && { authorization: `Bearer ${token}` }),
  ...(key && { 'x-api-key': key }),
});

const send = (method, path, { body, ...credentials }) =>
  new Promise((resolve) => {
    const sent = request(baseUrl + path, { agent, method, headers: headersOf(credentials) }, (response) => {
      response.resume().once('close', () => resolve(response.statusCode));
    });
    sent.on('error', () => resolve(0)).end(body);
  });

/** One after the other, with so many milliseconds between two. */
async function again(kind, pause, work) {
  for (let round = 0; ; round += 1) {
    const status = await work(round);
    if (status >= 200 && status < 300) done[kind] = (done[kind] ?? 0) + 1;
    await sleep(pause);
  }
}

const rows = (round) =>
  Array.from({ length: 500 }, (_, row) =>
    JSON.stringify({ decision: 'custom', decidedAt: '2024-02-29T00:00:00Z', externalId: `${round}-${row}` }),
  ).join('\n');

/** A request whose body never ends. */
const hold = (path, { type, ...credentials }) =>
  request(baseUrl + path, { agent, method: 'POST', headers: headersOf({ type, ...credentials }) })
    .on('error', () => {})
    .write('\n');

for (const { token, domainId, otherDomains, key, webhooks } of organizations) {
  const domain = `/v1/consent/${domainId}`;
  const ndjson = 'application/x-ndjson';
  const reads = [`${domain}/records?limit=200`, '/v1/consent/org-stats', '/v1/organization', `${domain}/records`];
  const other = (round) => otherDomains[round % otherDomains.length];
  again('reads', 500, (round) => send('GET', reads[round % reads.length], { token }));
  again('exports', 6_000, () => send('GET', `${domain}/export?decision=accept_all`, { token }));
  again('imports', 6_000, (round) =>
    send('POST', `${domain}/import?format=ndjson`, { token, type: ndjson, body: rows(round) }),
  );
  // names and tests: as many as there may be
  again('names', 1_000, (round) =>
    send('PATCH', `/v1/organization/domains/${other(round)}`, { token, body: `{"name":"name-${round}.example"}` }),
  );
  again('tests', 1_000, (round) =>
    send('POST', `/v1/organization/webhooks/${webhooks[round % webhooks.length]}/test`, { token }),
  );
  again('records', 100, () => send('POST', `${domain}/record`, { key, body: '{"decision":"accept_all"}' }));
  for (let held = 0; held < 3; held += 1) hold(`${domain}/import?format=ndjson&dryRun=true`, { token, type: ndjson });
}

setInterval(() => process.stdout.write(`${JSON.stringify(done)}\n`), 1_000);
