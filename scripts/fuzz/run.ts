/**
 * Drives every route of the OpenAPI document with requests that are valid, nearly so, or hostile. Whatever comes in, the
 * answer is one that the document describes, it comes in time, and afterwards the service works as before. A new route is
 * covered as soon as it is in the document.
 */
import { Agent, type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import fc from 'fast-check';
import { createCheck, type Described } from './described.ts';
import { type Document, type Request, requestsOf } from './requests.ts';
import { hostileUrls, type Known } from './values.ts';

export interface Outcome {
  requests: number;
  statuses: Record<string, number>;
  recorded: Set<string>;
  /** rows of imports that were stored */
  imported: number;
  /** bytes by which the API's heap grew, from its low point in the first third to that in the last */
  growth: number;
}

const together = 20;

/** Rejects with fast-check's report: the seed, and the smallest request that still fails. */
export async function fuzz(
  { baseUrl, opsUrl, known }: { baseUrl: string; opsUrl: string; known: Known },
  { requests, seed }: { requests: number; seed?: number | undefined },
): Promise<Outcome> {
  const document = (await (await fetch(`${baseUrl}/openapi.json`)).json()) as Document & Described;
  const check = createCheck(document);
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  const outcome: Outcome = { requests: 0, statuses: {}, recorded: new Set(), imported: 0, growth: 0 };
  const heap: number[] = [];

  const attempt = async (given: Request): Promise<void> => {
    const sent = await send(agent, baseUrl, given);
    outcome.requests += 1;
    outcome.statuses[sent.status] = (outcome.statuses[sent.status] ?? 0) + 1;
    const complaint = complaintAbout(given, sent, check);
    if (complaint) throw new Error(`${complaint}\n${sent.text.slice(0, 500)}`);
    take(given, sent);
  };

  const take = ({ method, target, body }: Request, { status, type, text }: Sent) => {
    if (status >= 300 || text === '' || !type.startsWith('application/json')) return;
    const { id, importId, queued = 0, url } = JSON.parse(text) as Answered;
    if (status === 202 && id) outcome.recorded.add(id);
    if (importId && !target.includes('dryRun=true')) outcome.imported += queued;
    // the body of any other request means nothing
    const isTaken = url && ['POST', 'PATCH'].includes(method);
    if (isTaken && asksForHostileUrl(body)) throw new Error(`a webhook was taken that leads to ${url}`);
  };

  const runs = Math.ceil(requests / together);
  try {
    await fc.assert(
      fc.asyncProperty(
        fc.array(requestsOf(document, known), { minLength: together, maxLength: together }),
        async (batch) => {
          if (Math.floor(outcome.requests / together) % Math.ceil(runs / 60) === 0) heap.push(await heapOf(opsUrl));
          await Promise.all(batch.map(attempt));
        },
      ),
      { numRuns: runs, ...(seed !== undefined && { seed }) },
    );
  } finally {
    agent.destroy();
  }
  const third = Math.floor(heap.length / 3);
  outcome.growth = Math.min(...heap.slice(-third)) - Math.min(...heap.slice(0, third));
  return outcome;
}

interface Answered {
  id?: string;
  importId?: string;
  queued?: number;
  url?: string;
}

const asksForHostileUrl = (body: Uint8Array | null): boolean => {
  const text = Buffer.from(body ?? []).toString();
  return hostileUrls.some((url) => text.includes(`"url":${JSON.stringify(url)}`));
};

type Sent = Awaited<ReturnType<typeof send>>;

/** Milliseconds: the service answers within 5 s; the rest is what a busy machine may add. */
const patience = 6_000;

/** Over connections that are used again, as clients' are. */
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
    return `${method} ${target} ${status} tells of its inside`;
  if (method === 'HEAD' || status === 204) return text === '' ? null : `${method} ${target} ${status} has a body`;
  // NDJSON is many objects
  const body: unknown = /json/.test(type) && !type.includes('ndjson') ? JSON.parse(text) : text;
  return isOfNoOperation(body) ? null : check({ method, path, status, type, body });
}

/** What is wrong with the path, with the method or with the headers as a whole comes before any operation. */
function isOfNoOperation(body: unknown): boolean {
  const { code, detail } = body as { code?: string; detail?: string };
  return code === 'not_found' || code === 'method_not_allowed' || detail === 'the headers are larger than 16 KiB';
}

async function heapOf(opsUrl: string): Promise<number> {
  const text = await (await fetch(`${opsUrl}/metrics`)).text();
  return Number(/^nodejs_heap_size_used_bytes (\S+)/m.exec(text)?.[1]);
}
