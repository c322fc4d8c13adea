/** The parts of the bench that calculate, and its load generator: a wrong figure is worse than none. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { text } from 'node:stream/consumers';
import { isbot } from 'isbot';
import { describe, expect, it } from 'vitest';
import { recordBody } from '#libs/contract/record';
import { decisions } from '#libs/contract/terms';
import type { Load, LoadResult } from '../../scripts/bench/client.ts';
import { figuresBetween, figuresOver, type Look } from '../../scripts/bench/cpu-time.ts';
import { atLeast, atMost, inTurns, judge, median, quantile, table } from '../../scripts/bench/figures.ts';
import {
  makeBody,
  makeRecord,
  requestMaker,
  siteOf,
  userAgentOf,
  visitorNumber,
} from '../../scripts/bench/requests.ts';
import { userAgents } from '../../scripts/bench/user-agents.ts';

const sites = Array.from({ length: 20 }, (_, index) => ({
  organizationId: 'org_one',
  domainId: `dom_${index}`,
  apiKey: `ak_${'x'.repeat(32)}`,
}));

describe('quantiles', () => {
  it('the median of an even number lies between the middle two', () => {
    expect(median([4, 1, 3, 2])).toBe(2.5);
    expect(median([9, 1, 5])).toBe(5);
  });

  it('the 99th of a hundred is the one below the largest', () => {
    const values = Array.from({ length: 100 }, (_, index) => 100 - index);
    expect(quantile(values, 0.99)).toBe(99);
    expect(quantile(values, 0.5)).toBe(50);
    expect(quantile([7], 0.99)).toBe(7);
    expect(quantile([], 0.5)).toBeNaN();
  });
});

describe('CPU time', () => {
  const at = (stored: number, time: number, used: number) => ({
    stored,
    at: time,
    used: [{ process: 'API', time: used }],
  });

  it('is that of a record, over one span of time or over several', () => {
    const [first, last] = [at(100, 5_000, 7_000), at(300, 6_000, 9_000)];
    expect(figuresBetween('x', first, last)).toEqual({
      x: { value: 200, unit: 'records/s' },
      'x: API': { value: 10, unit: 'µs CPU' },
    });
    const later: [Look, Look] = [at(0, 10_000, 20_000), at(200, 10_000, 26_000)];
    expect(figuresOver('x', [[first, last], later])).toEqual({
      x: { value: 400, unit: 'records/s' },
      'x: API': { value: 20, unit: 'µs CPU' },
    });
  });
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

  it('take the two sides in turns, and judge by the median of the ratios of each round', async () => {
    const order: string[] = [];
    const rows = await inTurns(3, { ...sides(order), targets: { rate: atLeast(0.81) } });
    const [one, other] = [
      ['reference', 'reference done'],
      ['figure', 'figure done'],
    ];
    expect(order).toEqual([one, other, other, one, one, other].flat());
    const judged = { target: { is: 'at least', value: 0.81 }, met: false };
    expect(rows).toEqual([{ name: 'rate', unit: 'x', figure: 9, reference: 10, ratio: 0.8, ...judged }]);
  });

  it('report a figure alone where the reference lacks it', async () => {
    const figure = async () => ({ memory: { value: 7, unit: 'MB' } });
    const rows = await inTurns(2, { reference: async () => ({}), figure });
    expect(rows).toEqual([{ name: 'memory', unit: 'MB', figure: 7 }]);
  });
});

describe('targets', () => {
  const single = (figure: number) => ({ name: 'a', unit: 'ms', figure });

  it('hold for the ratio where there is one', () => {
    const row = { name: 'a', unit: 'x', figure: 500, reference: 1_000, ratio: 0.5 };
    expect(judge(row, atLeast(0.5))).toMatchObject({ met: true });
    expect(judge(row, atLeast(0.51))).toMatchObject({ met: false });
    expect(judge(row, atMost(0.49))).toMatchObject({ met: false });
  });

  it('hold for the figure otherwise', () => {
    expect(judge(single(50), atMost(50))).toMatchObject({ met: true });
    expect(judge(single(51), atMost(50))).toMatchObject({ met: false });
    expect(table([judge(single(51), atMost(50))])).toContain('figure at most 50');
  });

  it('what was not measured is never met', () => {
    expect(judge(single(Number.NaN), atMost(50))).toMatchObject({ met: false });
    expect(judge(single(Number.NaN), atLeast(50))).toMatchObject({ met: false });
  });

  it('a figure without a target is only shown', () => {
    const row = judge(single(715), undefined);
    expect(row.met).toBeUndefined();
    expect(table([row])).toMatch(/a +715 +ms$/);
  });
});

describe('requests', () => {
  it('have bodies that the API takes, with all four decisions in skewed shares', () => {
    const bodies = Array.from({ length: 1_000 }, (_, index) => makeBody(index, visitorNumber(index)));
    for (const body of bodies) expect(recordBody.strict().safeParse(body).success).toBe(true);
    const count = (decision: string) => bodies.filter((body) => body.decision === decision).length;
    expect(decisions.map(count)).toEqual([500, 320, 140, 40]);
  });

  it('go to 20 domains with Zipf shares', () => {
    const counts = new Map(sites.map((site) => [site.domainId, 0]));
    for (let index = 0; index < 10_000; index += 1) {
      const { domainId } = siteOf(sites, index);
      counts.set(domainId, (counts.get(domainId) ?? 0) + 1);
    }
    [...counts.values()].forEach((count, at) => {
      expect(count).toBeCloseTo((10_000 * Math.log((at + 2) / (at + 1))) / Math.log(21), -2);
    });
  });

  it('come from 2,000 user agents with skewed shares, evenly mixed, and none of a crawler', () => {
    const agents = Array.from({ length: 20_000 }, (_, index) => userAgentOf(index));
    expect(new Set(agents).size).toBe(2_000);
    expect([...new Set(agents)].filter((agent) => isbot(agent))).toEqual([]);
    const length = agents.reduce((sum, agent) => sum + agent.length, 0) / agents.length;
    expect(length).toBeGreaterThan(110);
    expect(length).toBeLessThan(140);
    for (const part of [agents.slice(0, 1_000), agents.slice(-1_000)]) {
      const count = (agent = '') => part.filter((each) => each === agent).length;
      expect(count(userAgents[0])).toBeCloseTo(91, -1);
      expect(count(userAgents[9])).toBeCloseTo(12.5, -1);
    }
  });

  it('have the right length whatever fills their gaps', () => {
    const request = requestMaker('http://127.0.0.1:1', { sites });
    for (const index of [0, 7, 123_456]) {
      const [head = '', body = ''] = request(index).split('\r\n\r\n');
      expect(Number(/content-length: (\d+)/i.exec(head)?.[1])).toBe(Buffer.byteLength(body));
      const { visitorId, userAgent } = makeRecord(['dom_x'], index, Date.now());
      expect(visitorId).toMatch(/^[0-9a-f]{32}$/);
      expect(JSON.parse(body)).toMatchObject({ visitorId });
      expect(head.split('\r\n')).toContain(`User-Agent: ${userAgent}`);
    }
  });
});

describe('the load generator', () => {
  const send = { paths: ['/one', '/two'], token: 'a token' };

  async function run(listener: RequestListener, load: Omit<Load, 'baseUrl'>): Promise<LoadResult> {
    const server = createServer(listener).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    const baseUrl = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
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
    const seen: (string | undefined)[] = [];
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
    expect(result.p50).toBeGreaterThanOrEqual(19);
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
