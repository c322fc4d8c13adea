/** The parts of the bench that calculate, and its load generator: a wrong figure is worse than none. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { text } from 'node:stream/consumers';
import { isbot } from 'isbot';
import { describe, expect, it } from 'vitest';
import { recordBody } from '#libs/contract/record';
import { decisions } from '#libs/contract/terms';
import { makeId } from '#libs/store/tenants/administration';
import type { Load, LoadResult } from '../../scripts/bench/client.ts';
import { atLeast, atMost, inTurns, judge, median, quantile, table } from '../../scripts/bench/figures.ts';
import {
  makeBody,
  makeRecord,
  requestMaker,
  siteOf,
  userAgentOf,
  visitorNumber,
} from '../../scripts/bench/requests.ts';
import { growth, slopeOf } from '../../scripts/bench/slope.ts';
import { makeOrganizations, spreadOver } from '../../scripts/bench/spread.ts';
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

describe('growth', () => {
  const minutes = (values: number[]) => values.map((value, at) => ({ at: at * 60_000, value }));

  it('is by least squares, an hour', () => {
    expect(slopeOf(minutes([5, 7, 9, 11]))).toBeCloseTo(120);
    // the line through 0, 3, 0 and 3 rises by 0.6 a minute
    expect(slopeOf(minutes([0, 3, 0, 3]))).toBeCloseTo(36);
    expect(slopeOf(minutes([4]))).toBeNaN();
  });

  it('is told in percent of the mean, beside it', () => {
    const samples = minutes([100, 101, 102]).map(({ at, value }) => ({ at, values: { memory: value, handles: 0 } }));
    const figures = growth('soak', samples, { memory: 'MB', handles: '' });
    expect(figures['soak: memory']).toEqual({ value: 101, unit: 'MB' });
    expect(figures['soak: memory, slope']?.value).toBeCloseTo((60 / 101) * 100);
    expect(figures['soak: handles, slope']).toEqual({ value: 0, unit: '% an hour' });
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

  it('hold for the figure otherwise, and where they say so', () => {
    const row = { name: 'a', unit: 'x', figure: 500, reference: 1_000, ratio: 0.5 };
    expect(judge(row, atLeast(500, 'figure'))).toMatchObject({ met: true });
    expect(judge(row, atLeast(501, 'figure'))).toMatchObject({ met: false });
    expect(table([judge(row, atLeast(501, 'figure'))])).toContain('figure at least 501');
    expect(judge(single(50), atMost(50))).toMatchObject({ met: true });
    expect(judge(single(51), atMost(50))).toMatchObject({ met: false });
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

  it.each([{ ids: true }, {}])('have the right length whatever fills their gaps: %o', (parts) => {
    const id = '019aa0b0-0000-7000-8000-000000000000';
    const request = requestMaker('http://127.0.0.1:1', { sites, ...parts });
    for (const index of [0, 7, 123_456]) {
      const [head = '', body = ''] = request(index, id).split('\r\n\r\n');
      expect(Number(/content-length: (\d+)/i.exec(head)?.[1])).toBe(Buffer.byteLength(body));
      const { visitorId, userAgent } = makeRecord(['dom_x'], index, Date.now());
      expect(visitorId).toMatch(/^[0-9a-f]{32}$/);
      expect(JSON.parse(body)).toMatchObject({ visitorId, ...(parts.ids && { id }) });
      expect(head.split('\r\n')).toContain(`User-Agent: ${userAgent}`);
      if (!parts.ids) expect(JSON.parse(body)).not.toHaveProperty('id');
    }
  });
});

describe('shards', () => {
  it('have organizations within 20 % of even', () => {
    const all = makeOrganizations(10_000, () => makeId('org'));
    const { organizations } = spreadOver(16, all);
    expect(organizations.fullest).toBeLessThan(1.2);
    expect(organizations.emptiest).toBeGreaterThan(0.8);
  });

  it('have the whole load of an organization in one of them', () => {
    const all = [{ id: makeId('org'), load: 30 }, ...makeOrganizations(1_000, () => makeId('org'))];
    const { load } = spreadOver(16, all);
    expect(load.fullest).toBeGreaterThan(16 * 0.8);
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

  it('says which records were acknowledged, and counts refusals and lost connections as failed', async () => {
    const stored: string[] = [];
    let count = 0;
    const result = await run(
      (request, response) => {
        let body = '';
        request.on('data', (chunk) => {
          body += chunk;
        });
        request.on('end', () => {
          count += 1;
          if (count % 5 === 1) return void request.socket.destroy();
          if (count % 5 === 2) return void response.writeHead(503, { 'Content-Length': 0 }).end();
          stored.push(JSON.parse(body).id);
          return void response.writeHead(202, { 'Content-Length': 2 }).end('{}');
        });
      },
      { send: { sites, ids: true }, connections: 2, count: 50 },
    );
    expect(result).toMatchObject({ answered: 30, failed: 20 });
    expect(result.acknowledged.sort()).toEqual(stored.sort());
    expect(new Set(stored).size).toBe(30);
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
