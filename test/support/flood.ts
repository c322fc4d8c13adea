/** Sends records at a steady rate. A server that stalls does not slow its visitors down. */
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

interface Flood {
  sent: number;
  /** status → responses */
  answers: Map<number, number>;
}

/** Connections; each sends without waiting for what it sent before, and is answered in order. */
const lanes = 100;
/** milliseconds */
const step = 10;
const answer = /^HTTP\/1\.1 (\d{3}) .*?\r\ncontent-length: (\d+).*?\r\n\r\n/is;

interface Lane {
  socket: Socket;
  /** requests without a response */
  waiting: number;
  /** the part of the next response that has arrived */
  received: string;
}

/** Sends `rate` requests a second for that long, and waits for all responses. */
export async function flood(baseUrl: string, request: string, { rate = 2_000, seconds = 4 } = {}): Promise<Flood> {
  const { hostname: host, port } = new URL(baseUrl);
  const found: Flood = { sent: 0, answers: new Map() };
  const open = Array.from({ length: lanes }, (): Lane => {
    const lane: Lane = { socket: connect({ host, port: Number(port), noDelay: true }), waiting: 0, received: '' };
    lane.socket.on('data', (data) => read(found, lane, data.toString('latin1')));
    lane.socket.on('error', () => {});
    return lane;
  });
  const start = performance.now();
  while (performance.now() < start + seconds * 1_000) {
    const due = ((performance.now() - start) / 1_000) * rate;
    for (; found.sent < due; found.sent += 1) {
      const lane = open[found.sent % lanes];
      if (!lane) continue;
      lane.waiting += 1;
      lane.socket.write(request);
    }
    await sleep(step);
  }
  const patience = performance.now() + 60_000;
  while (open.some(({ waiting }) => waiting > 0) && performance.now() < patience) await sleep(step);
  for (const { socket } of open) socket.destroy();
  return found;
}

function read(found: Flood, lane: Lane, text: string): void {
  lane.received += text;
  for (;;) {
    const [head = '', status, length] = answer.exec(lane.received) ?? [];
    const end = head.length + Number(length);
    if (!head || lane.received.length < end) return;
    lane.received = lane.received.slice(end);
    found.answers.set(Number(status), (found.answers.get(Number(status)) ?? 0) + 1);
    lane.waiting -= 1;
  }
}
