/** Sends requests to every route of the OpenAPI document. Each response must match the document, and be in time. */
import { createHash } from 'node:crypto';
import { Agent, type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import fc from 'fast-check';
import { postRecord } from '../stack/sites.ts';
import { waitUntil } from '../stack/wait.ts';
import { createCheck, type Described } from './described.ts';
import { type Document, hostileUrls, type Known, type Request, requestsOf } from './values.ts';

type Sent = Awaited<ReturnType<typeof send>>;

const together = 20;
/** Milliseconds: the contract's 5 s, and the delay of a busy machine. */
const patience = 6_000;

/** Rejects with fast-check's report: the seed, and the smallest request that still fails. */
export async function fuzz(
  { baseUrl, opsUrl, known }: { baseUrl: string; opsUrl: string; known: Known },
  { requests, seed }: { requests: number; seed?: number | undefined },
) {
  const document = (await (await fetch(`${baseUrl}/openapi.json`)).json()) as Document & Described;
  const check = createCheck(document);
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  const statuses: Record<string, number> = {};
  const recorded = new Set<string>();
  const heap: number[] = [];
  let [sent, imported] = [0, 0];

  const attempt = async (given: Request): Promise<void> => {
    const answer = await send(agent, baseUrl, given);
    const { status, type, text } = answer;
    sent += 1;
    statuses[status] = (statuses[status] ?? 0) + 1;
    const complaint = complaintAbout(given, answer, check);
    if (complaint) throw new Error(`${complaint}\n${text.slice(0, 500)}`);
    if (status >= 300 || text === '' || !type.startsWith('application/json')) return;
    const made: { id?: string; importId?: string; queued?: number; url?: string } = JSON.parse(text);
    if (status === 202 && made.id) recorded.add(made.id);
    if (made.importId && !given.target.includes('dryRun=true')) imported += made.queued ?? 0;
    // the body of any other request is ignored
    if (!made.url || !['POST', 'PATCH'].includes(given.method)) return;
    const asked = Buffer.from(given.body ?? []).toString();
    if (hostileUrls.some((hostile) => asked.includes(`"url":${JSON.stringify(hostile)}`)))
      throw new Error(`a webhook was taken that leads to ${made.url}`);
  };

  const runs = Math.ceil(requests / together);
  const batches = fc.array(requestsOf(document, known), { minLength: together, maxLength: together });
  const work = async (batch: Request[]) => {
    if (Math.floor(sent / together) % Math.ceil(runs / 60) === 0) heap.push(await heapOf(opsUrl));
    await Promise.all(batch.map(attempt));
  };
  await fc
    .assert(fc.asyncProperty(batches, work), { numRuns: runs, ...(seed !== undefined && { seed }) })
    .finally(() => agent.destroy());
  const third = Math.floor(heap.length / 3);
  /** bytes by which the API's heap grew, from its minimum in the first third to that in the last */
  const growth = Math.min(...heap.slice(-third)) - Math.min(...heap.slice(0, third));
  return { requests: sent, statuses, recorded, imported, growth };
}

/** Over reused connections, as clients do. */
async function send(agent: Agent, baseUrl: string, { method, target, headers, body }: Request) {
  const { hostname, port } = new URL(baseUrl);
  const incoming = await new Promise<IncomingMessage>((resolve, reject) => {
    const outgoing = request({ agent, hostname, port, method, path: target, headers, timeout: patience }, resolve);
    outgoing.on('timeout', () => outgoing.destroy(new Error(`no answer within ${patience} ms`)));
    outgoing.on('error', reject);
    outgoing.end(body ?? undefined);
  });
  return {
    status: incoming.statusCode ?? 0,
    type: incoming.headers['content-type'] ?? '',
    text: await text(incoming),
    requestId: String(incoming.headers['x-request-id'] ?? ''),
  };
}

function complaintAbout({ method, target }: Request, sent: Sent, check: ReturnType<typeof createCheck>): string | null {
  const { status, type, text, requestId } = sent;
  const [path = ''] = target.split('?');
  if (status >= 500) return `${method} ${target} failed with ${status}`;
  if (!requestId) return `${method} ${target} ${status} has no request id`;
  if (/\bat .+\.(?:[jt]s|mjs):\d+|node_modules|PostgresError/.test(text) && !path.startsWith('/docs'))
    return `${method} ${target} ${status} reveals internals`;
  if (method === 'HEAD' || status === 204) return text === '' ? null : `${method} ${target} ${status} has a body`;
  // NDJSON consists of many objects
  const body: unknown = /json/.test(type) && !type.includes('ndjson') ? JSON.parse(text) : text;
  // errors of the path, of the method and of the headers as a whole come before any operation
  const { code = '', detail } = body as { code?: string; detail?: string };
  if (['not_found', 'method_not_allowed'].includes(code) || detail === 'the headers are larger than 16 KiB')
    return null;
  return check({ method, path, status, type, body });
}

async function heapOf(opsUrl: string): Promise<number> {
  const text = await (await fetch(`${opsUrl}/metrics`)).text();
  return Number(/^nodejs_heap_size_used_bytes (\S+)/m.exec(text)?.[1]);
}

const origin = 'https://consent.example.com';
/** Settings for an API on which people can have accounts. */
export const accountSettings = { PUBLIC_URL: origin };

export const prepared = 3;
/** The fuzzer keeps erasing them and recording for them. */
const visitors = ['v-1', 'v/2?#%'];

export type FuzzedSite = Pick<Known, 'domainId' | 'apiKey' | 'token' | 'webhooksToken'> & { baseUrl: string };

type Answer = Partial<Record<'nextCursor' | 'erasureId' | 'webhookId' | 'inviteUrl' | 'token', string>> & {
  total?: number;
  records?: { id: string }[];
};

export async function prepare(site: FuzzedSite): Promise<Known> {
  const { domainId, token, webhooksToken, apiKey } = site;
  for (let count = 0; count < prepared; count += 1) {
    const status = await record(site);
    if (status !== 202) throw new Error(`a valid record is answered ${status}`);
  }
  if (!(await waitForTotal(site, prepared))) throw new Error('records do not arrive in the log');
  const log = `/v1/consent/${domainId}/records`;
  const pages = await Promise.all([`${log}?limit=1`, '/v1/consent/org-stats?limit=1'].map((path) => get(site, path)));
  const { records = [] } = await get(site, log);
  // the fuzzer's most frequent document
  const hash = createHash('sha256').update('{}').digest('hex');
  await ask(site, 'PUT', `/v1/consent/${domainId}/notices/${hash}`, { 'x-api-key': apiKey }, '{}');
  const { erasureId } = await ask(site, 'DELETE', '/v1/organization/visitors/nobody', bearer(token));
  const webhook = JSON.stringify({ url: 'https://receiver.example/', types: ['visitor.erased'] });
  // several, since the fuzzer deletes them
  const webhooks = await Promise.all(
    Array.from({ length: 20 }, () => ask(site, 'POST', '/v1/organization/webhooks', bearer(webhooksToken), webhook)),
  );
  const invited = JSON.stringify({ email: 'ann@example.com', scopes: ['read'] });
  const { inviteUrl } = await ask(site, 'POST', '/v1/organization/people', bearer(webhooksToken), invited);
  const invite = new URL(String(inviteUrl)).hash.replace('#invite=', '');
  const accepted = JSON.stringify({ invite, name: 'Ann', password: 'four quiet lamps in may' });
  const person = await ask(site, 'POST', '/v1/sign-in/invitation', { origin }, accepted);
  return {
    ...site,
    origin,
    personToken: String(person.token),
    cursors: pages.map(({ nextCursor }) => String(nextCursor)),
    recordIds: records.map(({ id }) => id),
    notices: [hash],
    visitors,
    erasures: [String(erasureId)],
    webhooks: webhooks.map(({ webhookId }) => String(webhookId)),
  };
}

export const record = async (site: FuzzedSite): Promise<number> =>
  (await postRecord(site.baseUrl, site, { decision: 'custom' })).status;

/** Whether the log gets exactly this many records; a record may take 30 s from receipt to the log. */
export const waitForTotal = (site: FuzzedSite, total: number): Promise<boolean> => {
  const page = `/v1/consent/${site.domainId}/records?limit=1`;
  return waitUntil(async () => (await get(site, page)).total === total, { deadlineMs: 30_000 });
};

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const get = (site: FuzzedSite, path: string) => ask(site, 'GET', path, bearer(site.token));

async function ask(
  { baseUrl }: FuzzedSite,
  method: string,
  path: string,
  credential: Record<string, string>,
  body: string | null = null,
): Promise<Answer> {
  const headers = { ...credential, ...(body !== null && { 'content-type': 'application/json' }) };
  const response = await fetch(baseUrl + path, { method, headers, body });
  if (!response.ok) throw new Error(`${method} ${path} is answered ${response.status}`);
  return (await response.json()) as Answer;
}
