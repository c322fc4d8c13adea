/** Sends one request over connections that are used again, as clients' are. */
import { Agent, type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Request } from './requests.ts';

export type Sent = Awaited<ReturnType<ReturnType<typeof createSender>['send']>>;

/** Milliseconds: the service answers within 5 s; the rest is what a busy machine may add. */
const patience = 6_000;

export function createSender(baseUrl: string) {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  const { hostname, port } = new URL(baseUrl);
  const send = async ({ method, target, headers, body }: Request) => {
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
  };
  return { send, close: () => agent.destroy() };
}
