/** What the user reads last: where everything is, and a command to paste for each endpoint. */
import type { SummaryFacts } from './bring-up.ts';

export function summary(facts: SummaryFacts): string {
  const { baseUrl, opsUrl, workerOpsUrl, postgres, redis, logs, organizationId, domainId, apiKey, token } = facts;
  const addresses = {
    Dashboard: token === null ? baseUrl : `${baseUrl}/#token=${token}`,
    API: baseUrl,
    'Demo shop': `${baseUrl}/demo`,
    Reference: `${baseUrl}/docs`,
    OpenAPI: `${baseUrl}/openapi.json`,
    Operations: `${opsUrl}  ${opsUrl}/metrics  ${opsUrl}/queues  (worker: ${workerOpsUrl})`,
    Postgres: postgres,
    Redis: redis,
    Logs: logs.join('  '),
    Demo: `organization ${organizationId}, domain ${domainId}`,
    'A full year': 'npm run demo',
    'As JSON': '.data/demo.json',
  };
  const rows = Object.entries(addresses).map(([name, value]) => `  ${name.padEnd(12)}${value}`);
  const today = new Date().toISOString().slice(0, 10);
  const domain = `${baseUrl}/v1/consent/${domainId}`;
  const get = (url: string) => `curl -w '\\n' -H "authorization: Bearer $TOKEN" '${url}'`;
  return `
Assent is running. Ctrl-C stops it.

${rows.join('\n')}

TOKEN=${token ?? "'one that is signed with your private key'"}
curl -w '\\n' -X POST -H 'content-type: application/json' -H 'x-api-key: ${apiKey}' -d '{"decision":"accept_all"}' '${domain}/record'
${get(`${domain}/stats?from=${today.slice(0, 7)}-01&to=${today}`)}
${get(`${domain}/records`)}
${get(`${baseUrl}/v1/consent/org-stats`)}
${get(`${baseUrl}/v1/organization`)}
`;
}
