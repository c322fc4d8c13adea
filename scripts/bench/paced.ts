/**
 * A client that sends records at a fixed rate, in a process of its own; its one argument is the load, its output the
 * latencies. Each is measured from when its request was due, so that a server that stalls does not put off the very
 * requests that would show it (coordinated omission).
 */
import { makeTemplates, type Site, visitorNumber } from './bodies.ts';
import { type Connection, openConnection } from './connection.ts';
import { quantile } from './quantiles.ts';

export interface PacedLoad {
  baseUrl: string;
  sites: Site[];
  /** requests a second */
  rate: number;
  seconds: number;
  /** seconds at the beginning that are not measured */
  warmUp: number;
  connections: number;
}

/** Latencies in milliseconds. */
export interface PacedResult {
  sent: number;
  failed: number;
  p50: number;
  p99: number;
}

const { baseUrl, sites, rate, seconds, warmUp, connections } = JSON.parse(process.argv[2] ?? '{}') as PacedLoad;

const templates = makeTemplates(sites, new URL(baseUrl).host, { ids: false });
const idle = await Promise.all(Array.from({ length: connections }, () => openConnection(baseUrl)));
const due: number[] = [];
const latencies: number[] = [];
let sent = 0;
let failed = 0;

const start = performance.now();
const end = start + (warmUp + seconds) * 1_000;

async function send(connection: Connection, at: number): Promise<void> {
  const [before = '', after = ''] = templates[sent % templates.length] ?? [];
  const text = before + visitorNumber(sent) + after;
  sent += 1;
  try {
    const { status } = await connection.send(text);
    if (status !== 202) failed += 1;
    if (at >= start + warmUp * 1_000) latencies.push(performance.now() - at);
    idle.push(connection);
  } catch {
    failed += 1;
    idle.push(await openConnection(baseUrl));
  }
  sendDue();
}

function sendDue(): void {
  while (due.length > 0) {
    const connection = idle.pop();
    if (!connection) return;
    void send(connection, due.shift() ?? 0);
  }
}

await new Promise<void>((resolve) => {
  let scheduled = 0;
  const tick = () => {
    const now = performance.now();
    for (; start + (scheduled / rate) * 1_000 <= Math.min(now, end); scheduled += 1) {
      due.push(start + (scheduled / rate) * 1_000);
    }
    sendDue();
    if (now < end) setTimeout(tick, 1);
    else resolve();
  };
  tick();
});
const patience = performance.now() + 5_000;
while (idle.length < connections && performance.now() < patience)
  await new Promise((resolve) => setTimeout(resolve, 5));
for (const connection of idle) connection.close();

failed += due.length + connections - idle.length;
const result: PacedResult = { sent, failed, p50: quantile(latencies, 0.5), p99: quantile(latencies, 0.99) };
process.stdout.write(JSON.stringify(result), () => process.exit());
