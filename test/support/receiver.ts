/** A receiver of webhooks behind HTTP: keeps what it got, and answers as it is told. */
import { createServer, type IncomingHttpHeaders, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { text } from 'node:stream/consumers';
import { atEnd } from './at-end.ts';
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
  until(count: number, within?: number): Promise<Received[]>;
}

export async function startReceiver(tls?: { key: string; cert: string }): Promise<Receiver> {
  const received: Received[] = [];
  const taken = (response: ServerResponse) => void response.writeHead(204).end();
  let answer: (response: ServerResponse, received: Received) => void = taken;
  const handle: RequestListener = async (request, response) => {
    const body = await text(request);
    const one = { headers: request.headers, body, message: JSON.parse(body) };
    received.push(one);
    answer(response, one);
  };
  const server = tls ? createSecureServer(tls, handle) : createServer(handle);
  const port = await new Promise<number>((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      if (address !== null && typeof address === 'object') resolve(address.port);
    });
  });
  atEnd(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    port,
    url: `${tls ? 'https' : 'http'}://127.0.0.1:${port}/hook`,
    received,
    answerWith: (given = taken) => {
      answer = given;
    },
    until: (count, within = 20_000) =>
      eventually(
        () => {
          if (received.length < count) throw new Error(`${received.length} messages instead of ${count}`);
          return received;
        },
        { within },
      ),
  };
}
