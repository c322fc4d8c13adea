/** Peers that speak valid HTTP in the costliest way, each with a control that sends as much in the usual way. */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Site } from '../stack/sites.ts';

/** How many times slower others may be than beside the control. */
export const mostSlower = 3;

interface Peer {
  /** of a receiver */
  port: number;
  end(): Promise<unknown>;
}

/** `kind`: one of peer-thread.mjs. */
export async function startPeer(settings: { kind: string; plain: boolean; port?: number }): Promise<Peer> {
  const thread = new Worker(new URL('peer-thread.mjs', import.meta.url), { workerData: settings });
  const [port] = await once(thread, 'message');
  return { port: Number(port), end: () => thread.terminate() };
}

/** Whom the service calls. */
export const receivers = ['interim responses', 'small chunks', 'small packets'];

interface Caller {
  name: string;
  kind: string;
  path: string;
  headers?: string[];
  type?: string;
}

/** Who calls it; `token` may import. */
export function callersOf({ domainId, apiKey }: Pick<Site, 'domainId' | 'apiKey'>, token: string): Caller[] {
  const record = { path: `/v1/consent/${domainId}/record`, headers: [`X-Api-Key: ${apiKey}`] };
  const imports = {
    path: `/v1/consent/${domainId}/import?format=ndjson`,
    headers: [`Authorization: Bearer ${token}`],
    type: 'application/x-ndjson',
  };
  return [
    { name: 'requests ahead', kind: 'requests ahead', path: '/unknown' },
    { name: 'responses that nobody reads', kind: 'unread responses', path: '/openapi.json' },
    { name: 'records in small chunks', kind: 'bodies in small chunks', ...record },
    { name: 'unknown paths in small chunks', kind: 'bodies in small chunks', path: '/unknown' },
    { name: 'imports in small chunks', kind: 'imports in small chunks', ...imports },
    { name: 'chunks with extensions', kind: 'chunks with extensions', ...record },
    { name: 'requests in small packets', kind: 'requests in small packets', ...record },
  ];
}

/** `share`: of the values, at most so many are as large; sorts them. */
export const quantile = (values: number[], share: number): number =>
  values.sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? 0;
