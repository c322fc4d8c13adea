/** The load generator. With a `rate`, a latency counts from when its request was due: no stall can hide. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { quantile } from './figures.ts';
import { type LookUps, type Reads, type Records, requestMaker } from './requests.ts';

export interface Load {
  baseUrl: string;
  send: Records | Reads | LookUps;
  /** each has one request on its way; default: 256 for records, 128 for reads */
  connections?: number;
  seconds?: number;
  count?: number;
  /** requests a second; default: as fast as the server answers */
  rate?: number;
}

export interface LoadResult {
  /** with a 2xx */
  answered: number;
  /** with anything else, or not at all */
  failed: number;
  /** from the first request to the last answer */
  seconds: number;
  /** latencies in milliseconds */
  p50: number;
  p99: number;
  slowest: number;
}

const load: Load = JSON.parse(process.argv[2] ?? '{}');
const { baseUrl, send, seconds = Number.POSITIVE_INFINITY, count = Number.POSITIVE_INFINITY, rate } = load;
// with half as many a fifth of two processors waited for the disk of Redis
const { connections = 'sites' in send ? 256 : 128 } = load;
const makeRequest = requestMaker(baseUrl, send);

interface Connection {
  socket?: Socket;
  received: string;
  /** when its request was due; undefined: none is on its way */
  due?: number | undefined;
}

const latencies: number[] = [];
let open = 0;
let sent = 0;
let answered = 0;
let failed = 0;

const idle: Connection[] = Array.from({ length: connections }, () => ({ received: '' }));
/** All connections share it: what is read becomes text before the next read. */
const buffer = Buffer.allocUnsafe(65_536);
await Promise.all(idle.map(openConnection));
const start = performance.now();
let last = start;
let end = start + seconds * 1_000;
process.once('SIGTERM', () => {
  end = performance.now();
});
const ticking = setInterval(tick, 1);
tick();

async function openConnection(connection: Connection): Promise<void> {
  const { hostname: host, port } = new URL(baseUrl);
  const callback = (bytes: number) => {
    connection.received += buffer.toString('latin1', 0, bytes);
    readAnswer(connection);
    return true;
  };
  const socket = connect({ host, port: Number(port), noDelay: true, onread: { buffer, callback } });
  await once(socket, 'connect');
  socket.on('error', () => {});
  socket.once('close', () => {
    delete connection.socket;
    connection.received = '';
    const reopened = openConnection(connection).catch(() => {});
    void reopened.then(() => finish(connection, false));
  });
  connection.socket = socket;
}

function readAnswer(connection: Connection): void {
  const { received } = connection;
  const headersEnd = received.indexOf('\r\n\r\n');
  if (headersEnd < 0) return;
  const status = Number(received.slice(9, 12));
  const length = status === 204 ? 0 : Number(/\r\ncontent-length: (\d+)/i.exec(received)?.[1]);
  if (Number.isNaN(length)) return void connection.socket?.destroy();
  if (received.length < headersEnd + 4 + length) return;
  connection.received = '';
  finish(connection, status >= 200 && status < 300);
}

function nextDue(now: number): number | undefined {
  const due = rate === undefined ? now : start + (sent / rate) * 1_000;
  return sent < count && due <= now && due < end ? due : undefined;
}

function sendNext(connection: Connection): void {
  const due = nextDue(performance.now());
  if (due === undefined || !connection.socket) return void idle.push(connection);
  connection.due = due;
  connection.socket.write(makeRequest(sent), 'latin1');
  sent += 1;
  open += 1;
}

function finish(connection: Connection, isAnswered: boolean): void {
  const { due } = connection;
  // a server may end a connection that has sent nothing with a 408
  if (due === undefined) return;
  last = performance.now();
  connection.due = undefined;
  open -= 1;
  if (isAnswered) {
    answered += 1;
    latencies.push(last - due);
  } else {
    failed += 1;
  }
  sendNext(connection);
}

function tick(): void {
  const now = performance.now();
  for (const connection of idle.splice(0)) sendNext(connection);
  const allSent = sent >= count || (now >= end && nextDue(now) === undefined);
  // a server that answers nothing for ten seconds ends the load too
  if ((allSent && open === 0) || now > last + 10_000) report();
}

function report(): void {
  clearInterval(ticking);
  const unsent =
    rate === undefined ? 0 : Math.max(0, Math.min(count, Math.floor(((end - start) / 1_000) * rate)) - sent);
  const result: LoadResult = {
    answered,
    failed: failed + open + unsent,
    seconds: (last - start) / 1_000,
    p50: quantile(latencies, 0.5),
    p99: quantile(latencies, 0.99),
    slowest: quantile(latencies, 1),
  };
  process.stdout.write(JSON.stringify(result), () => process.exit());
}
