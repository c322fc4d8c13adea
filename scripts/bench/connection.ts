/** One HTTP/1.1 connection that is kept and takes requests as they are: a client that costs little beside a server. */
import { connect } from 'node:net';

export interface Answer {
  status: number;
  /** status line and header fields */
  head: string;
  body: Buffer;
}

export interface Connection {
  /** One request at a time. Rejects when the connection ends before the answer. */
  send(request: string): Promise<Answer>;
  close(): void;
}

interface Waiting {
  resolve: (answer: Answer) => void;
  reject: (error: Error) => void;
}

export function openConnection(baseUrl: string): Promise<Connection> {
  const { hostname, port } = new URL(baseUrl);
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  let waiting: Waiting | undefined;
  let received: Buffer = Buffer.alloc(0);

  socket.on('data', (chunk) => {
    received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
    const answer = parse(received);
    if (answer === 'unreadable') socket.destroy();
    if (answer === undefined || answer === 'unreadable') return;
    received = Buffer.alloc(0);
    const { resolve } = waiting ?? { resolve: () => {} };
    waiting = undefined;
    resolve(answer);
  });
  socket.on('close', () => waiting?.reject(new Error('the connection ended before the answer')));

  const connection: Connection = {
    send: (request) =>
      new Promise((resolve, reject) => {
        if (socket.destroyed) return reject(new Error('the connection is closed'));
        waiting = { resolve, reject };
        socket.write(request, 'latin1');
      }),
    close: () => void socket.destroy(),
  };
  return new Promise((resolve, reject) => {
    socket.once('error', reject);
    socket.once('connect', () => {
      socket.on('error', () => {});
      resolve(connection);
    });
  });
}

/** The answer, once all of it is there. The servers here say how long their answers are, and answer in order. */
function parse(received: Buffer): Answer | 'unreadable' | undefined {
  const end = received.indexOf('\r\n\r\n');
  if (end === -1) return undefined;
  const head = received.toString('latin1', 0, end);
  const length = Number(/^content-length: (\d+)/im.exec(head)?.[1]);
  if (Number.isNaN(length)) return 'unreadable';
  if (received.length < end + 4 + length) return undefined;
  return { status: Number(head.slice(9, 12)), head, body: received.subarray(end + 4, end + 4 + length) };
}

export const getRequest = (baseUrl: string, path: string, token: string): string =>
  `GET ${path} HTTP/1.1\r\nHost: ${new URL(baseUrl).host}\r\nAuthorization: Bearer ${token}\r\n\r\n`;
