/** Sends one request over connections that are used again, as clients' are. */
import { Agent, request } from 'node:http';
import type { Request } from './requests.ts';

export interface Sent {
  status: number;
  type: string;
  text: string;
  requestId: string;
}

/** Milliseconds: the service answers within 5 s; the rest is what a busy machine may add. */
const patience = 6_000;

export function createSender(baseUrl: string): { send(given: Request): Promise<Sent>; close(): void } {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  const { hostname, port } = new URL(baseUrl);
  return {
    send: ({ method, target, headers, body }) =>
      new Promise((resolve, reject) => {
        const outgoing = request(
          { agent, hostname, port, method, path: target, headers, timeout: patience },
          (incoming) => {
            const chunks: Buffer[] = [];
            incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
            incoming.on('error', reject);
            incoming.on('end', () =>
              resolve({
                status: incoming.statusCode ?? 0,
                type: incoming.headers['content-type'] ?? '',
                text: Buffer.concat(chunks).toString(),
                requestId: String(incoming.headers['x-request-id'] ?? ''),
              }),
            );
          },
        );
        outgoing.on('timeout', () => outgoing.destroy(new Error(`no answer within ${patience} ms`)));
        outgoing.on('error', reject);
        outgoing.end(body ?? undefined);
      }),
    close: () => agent.destroy(),
  };
}
