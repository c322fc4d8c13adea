/** A receiver of webhooks over HTTP: stores what it gets, and responds as the test sets it. */
import { createServer, type IncomingHttpHeaders, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { text } from 'node:stream/consumers';
import { listen } from './listen.ts';
import { eventually } from './wait.ts';

export interface Received {
  headers: IncomingHttpHeaders;
  body: string;
  message: { type: string; timestamp: string; data: Record<string, unknown> };
}

export interface Receiver {
  port: number;
  url: string;
  received: Received[];
  /** from now on; 204, if nothing is given */
  answerWith(answer?: (response: ServerResponse, received: Received) => void): void;
  /** once there are so many */
  until(count: number): Promise<Received[]>;
  /** from now on it does not respond, and closes every connection */
  hangUp(): void;
}

export async function startReceiver(tls?: { key: string; cert: string }): Promise<Receiver> {
  const received: Received[] = [];
  const taken = (response: ServerResponse) => void response.writeHead(204).end();
  let answer: (response: ServerResponse, received: Received) => void = taken;
  const handle: RequestListener = async (request, response) => {
    // the sender may give up in the middle
    const body = await text(request).catch(() => undefined);
    if (body === undefined) return;
    const one = { headers: request.headers, body, message: JSON.parse(body) };
    received.push(one);
    answer(response, one);
  };
  const server = tls ? createSecureServer(tls, handle) : createServer(handle);
  const port = await listen(server);
  return {
    port,
    url: `${tls ? 'https' : 'http'}://127.0.0.1:${port}/hook`,
    received,
    answerWith: (given = taken) => {
      answer = given;
    },
    until: (count) =>
      eventually(() => {
        if (received.length < count) throw new Error(`${received.length} messages instead of ${count}`);
        return received;
      }),
    hangUp: () => {
      answer = (response) => void response.destroy();
      server.closeAllConnections();
    },
  };
}
