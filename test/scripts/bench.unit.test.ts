/** The parts of the bench that calculate, and its load generator: a wrong figure is worse than none. */
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Load, LoadResult } from '../../scripts/bench/client.ts';
import { compare, figuresOver, inTurns, type Look, median, quantile } from '../../scripts/bench/figures.ts';
import { listen } from '../../scripts/stack/ports.ts';

it('the median of an even number lies between the middle two, and the 99th of a hundred is the one below the largest', () => {
  expect([median([4, 1, 3, 2]), median([9, 1, 5])]).toEqual([2.5, 5]);
  const values = Array.from({ length: 100 }, (_, index) => 100 - index);
  expect([quantile(values, 0.99), quantile([7], 0.99), quantile([], 0.5)]).toEqual([99, 7, Number.NaN]);
});

it('CPU time is that of a record, over one span of time or over several', () => {
  const at = (stored: number, time: number, used: number): Look => ({
    ...{ stored, at: time, used: [{ process: 'API', time: used }] },
  });
  const spans: [Look, Look][] = [
    [at(100, 5_000, 7_000), at(300, 6_000, 9_000)],
    [at(0, 10_000, 20_000), at(200, 10_000, 26_000)],
  ];
  const figures = (rate: number, time: number) => ({
    ...{ x: { value: rate, unit: 'records/s' }, 'x: API': { value: time, unit: 'µs CPU' } },
  });
  expect(figuresOver('x', ...spans.slice(0, 1))).toEqual(figures(200, 10));
  expect(figuresOver('x', ...spans)).toEqual(figures(400, 20));
});

describe('rounds', () => {
  const sides = (order: string[]) => {
    const taking = (name: string, values: number[]) => async () => {
      order.push(name);
      await Promise.resolve();
      order.push(`${name} done`);
      return { rate: { value: values.shift() ?? 0, unit: 'x' } };
    };
    return { reference: taking('reference', [10, 100, 10]), figure: taking('figure', [5, 80, 9]) };
  };

  it('take the two sides in turns, and have the median of the ratios of each round', async () => {
    const order: string[] = [];
    const rows = await inTurns(3, sides(order));
    const [one, other] = [
      ['reference', 'reference done'],
      ['figure', 'figure done'],
    ];
    expect(order).toEqual([one, other, other, one, one, other].flat());
    expect(rows).toEqual([{ name: 'rate', unit: 'x', figure: 9, reference: 10, ratio: 0.8 }]);
  });
});

describe('two checkouts', () => {
  /** One whose bench writes these figures down, or says that it lacks what is asked for. */
  const checkout = (rows: object[], lacks = '') => {
    const folder = mkdtempSync(path.join(tmpdir(), 'assent-bench-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    for (const each of ['scripts', '.data']) mkdirSync(path.join(folder, each));
    const program = `
      import { writeFileSync } from 'node:fs';
      const [lacks, asked] = [${JSON.stringify(lacks)}, process.argv.slice(2).join(' ')];
      if (lacks && asked.includes(lacks)) {
        console.error('no measurement ' + lacks);
        process.exit(1);
      }
      const rows = ${JSON.stringify(rows)}.map((row) => ({ ...row, unit: asked }));
      writeFileSync('.data/bench.json', JSON.stringify({ rows, failed: [] }));`;
    writeFileSync(path.join(folder, 'scripts/run.mjs'), program);
    return folder;
  };
  const { signal } = new AbortController();

  it('are compared by what each measures itself, also of its own reference', async () => {
    const own = checkout([{ name: 'a', figure: 6, ratio: 0.5 }]);
    const other = checkout([
      { name: 'a', figure: 3, ratio: 0.25 },
      { name: 'gone', figure: 1 },
    ]);
    const rows = await compare({ own, other, args: ['--quick', 'a'], rounds: 2, signal });
    expect(rows).toEqual([
      { name: 'a', unit: 'bench --quick a', figure: 6, reference: 3, ratio: 2 },
      { name: 'a ÷ reference', unit: '', figure: 0.5, reference: 0.25, ratio: 2 },
    ]);
  });

  it('say which of them lacks a measurement', async () => {
    const other = checkout([], 'cost');
    const compared = compare({ own: checkout([]), other, args: ['cost'], rounds: 1, signal });
    await expect(compared).rejects.toThrow(`${other} failed:\nno measurement cost`);
  });
});

describe('the load generator', () => {
  const send = { paths: ['/one', '/two'], token: 'a token' };

  async function run(listener: RequestListener, load: Omit<Load, 'baseUrl'>): Promise<LoadResult> {
    const server = createServer(listener);
    const baseUrl = `http://127.0.0.1:${await listen(server)}`;
    const args = ['--import', 'tsx', 'scripts/bench/client.ts', JSON.stringify({ baseUrl, ...load })];
    const client = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    try {
      return JSON.parse(await text(client.stdout));
    } finally {
      server.closeAllConnections();
      server.close();
    }
  }

  it('sends as many as it is told, one at a time on each connection, and reads answers that come in pieces', async () => {
    const seen: string[] = [];
    let open = 0;
    let most = 0;
    const result = await run(
      (request, response) => {
        seen.push(`${request.url} ${request.headers.authorization}`);
        open += 1;
        most = Math.max(most, open);
        response.writeHead(200, { 'Content-Length': 10 });
        response.write('01234');
        setTimeout(() => {
          open -= 1;
          response.end('56789');
        }, 20);
      },
      { send, connections: 4, count: 20 },
    );
    expect(result).toMatchObject({ answered: 20, failed: 0 });
    expect(seen.filter((each) => each === '/two Bearer a token')).toHaveLength(10);
    expect(most).toBe(4);
  });

  it('counts refusals and lost connections as failed', async () => {
    let count = 0;
    const result = await run(
      (request, response) => {
        count += 1;
        if (count % 5 === 1) request.socket.destroy();
        else response.writeHead(count % 5 === 2 ? 503 : 202, { 'Content-Length': 2 }).end('{}');
      },
      { send, connections: 2, count: 50 },
    );
    expect(result).toMatchObject({ answered: 30, failed: 20 });
  });

  it('keeps a rate, and counts a latency from when the request was due', async () => {
    let began = 0;
    const result = await run(
      (_, response) => {
        began ||= performance.now();
        // stalls for 400 ms of two seconds
        const wait = performance.now() - began < 400 ? 400 - (performance.now() - began) : 0;
        setTimeout(() => response.writeHead(200, { 'Content-Length': 0 }).end(), wait);
      },
      { send, connections: 2, rate: 100, seconds: 2 },
    );
    expect(result).toMatchObject({ answered: 200, failed: 0 });
    // only two requests were on their way, but a tenth of all was due long before it was answered
    expect(result.p99).toBeGreaterThan(300);
  });
});
