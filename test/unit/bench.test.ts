/** The parts of the bench that only calculate: a wrong figure is worse than none. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, isIPv4 } from 'node:net';
import { describe, expect, it } from 'vitest';
import { recordBody } from '#libs/contract/record';
import { decisions } from '#libs/contract/terms';
import { addressOf, makeBody, makeTemplates, pageOrigin, siteOf, visitorNumber } from '../../scripts/bench/bodies.ts';
import { openConnection } from '../../scripts/bench/connection.ts';
import { spanOf } from '../../scripts/bench/data-sets.ts';
import { atLeast, atMost, compared, single } from '../../scripts/bench/measurement.ts';
import { median, quantile } from '../../scripts/bench/quantiles.ts';
import { alongside, alternate } from '../../scripts/bench/rounds.ts';
import { table } from '../../scripts/bench/table.ts';

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

describe('rounds', () => {
  it('take reference and figure in turn, and judge by the median of the ratios of each round', async () => {
    const order: string[] = [];
    const taking = (name: string, values: number[]) => async () => {
      order.push(name);
      return values.shift() ?? 0;
    };
    const measured = await alternate(3, {
      reference: taking('reference', [10, 100, 10]),
      figure: taking('figure', [5, 80, 9]),
    });
    expect(order).toEqual(['reference', 'figure', 'reference', 'figure', 'reference', 'figure']);
    expect(measured).toEqual({ figure: 9, reference: 10, ratio: 0.8 });
  });
});

describe('two at the same time', () => {
  it('are judged by the median of the ratios of each round', async () => {
    const [references, figures] = [
      [10, 100, 10],
      [5, 80, 9],
    ];
    const measured = await alongside(3, {
      reference: async () => references.shift() ?? 0,
      figure: async () => figures.shift() ?? 0,
    });
    expect(measured).toEqual({ figure: 9, reference: 10, ratio: 0.8 });
  });
});

describe('targets', () => {
  const ratio = (value: number) => ({ figure: value, reference: 1, ratio: value });

  it('half of a target that is to be reached is a gross failure, less than that is only not met', () => {
    expect(compared('a', 'x', ratio(0.85), atLeast(0.85))).toMatchObject({ met: true, gross: false });
    expect(compared('a', 'x', ratio(0.84), atLeast(0.85))).toMatchObject({ met: false, gross: false });
    expect(compared('a', 'x', ratio(0.42), atLeast(0.85))).toMatchObject({ met: false, gross: true });
  });

  it('twice a target that is not to be passed is a gross failure, and any loss is', () => {
    expect(single('a', 'ms', 50, atMost(50))).toMatchObject({ met: true, gross: false });
    expect(single('a', 'ms', 99, atMost(50))).toMatchObject({ met: false, gross: false });
    expect(single('a', 'ms', 101, atMost(50))).toMatchObject({ met: false, gross: true });
    expect(single('lost', 'records', 1, atMost(0))).toMatchObject({ met: false, gross: true });
  });

  it('what was not measured is never met', () => {
    expect(single('a', 'ms', Number.NaN, atMost(50))).toMatchObject({ met: false, gross: true });
    expect(compared('a', 'x', ratio(Number.NaN), atLeast(1))).toMatchObject({ met: false, gross: true });
  });

  it('a figure without a target is reported', () => {
    const row = single('disk', 'bytes', 715);
    expect(row.met).toBeUndefined();
    expect(table([row])).toMatch(/disk +715 +bytes +report$/);
  });
});

describe('the load', () => {
  it('has bodies that the API takes, with all four decisions in skewed shares', () => {
    const bodies = Array.from({ length: 1_000 }, (_, index) => makeBody(index, visitorNumber(index)));
    for (const body of bodies) expect(recordBody.strict().safeParse(body).success).toBe(true);
    const count = (decision: string) => bodies.filter((body) => body.decision === decision).length;
    expect(decisions.map(count)).toEqual([500, 320, 140, 40]);
  });

  it('goes to 20 domains with Zipf shares', () => {
    const counts = new Map(sites.map((site) => [site.domainId, 0]));
    for (let index = 0; index < 10_000; index += 1) {
      const { domainId } = siteOf(sites, index);
      counts.set(domainId, (counts.get(domainId) ?? 0) + 1);
    }
    const harmonic = sites.reduce((sum, _, at) => sum + 1 / (at + 1), 0);
    [...counts.values()].forEach((count, at) => {
      expect(count).toBeCloseTo(10_000 / harmonic / (at + 1), -2);
    });
  });

  it('can come from pages, each visitor at an address of its own', () => {
    const addresses = Array.from({ length: 1_000 }, (_, index) => addressOf(visitorNumber(index)));
    expect(new Set(addresses).size).toBe(1_000);
    expect(addresses.every(isIPv4)).toBe(true);
    const [parts = []] = makeTemplates(sites, '127.0.0.1:1', { addresses: true, origin: pageOrigin });
    expect(parts).toHaveLength(3);
    expect(parts[0]).toMatch(/X-Forwarded-For: $/);
    expect(parts[1]).toContain(`Origin: ${pageOrigin}`);
  });

  it('is requests whose length is right whatever fills their gaps', () => {
    const id = '019aa0b0-0000-7000-8000-000000000000';
    for (const parts of makeTemplates(sites, '127.0.0.1:1', { ids: true })) {
      expect(parts).toHaveLength(3);
      const [before = '', between = '', after = ''] = parts;
      const [head = '', body = ''] = `${before}${id}${between}${visitorNumber(7)}${after}`.split('\r\n\r\n');
      expect(Number(/content-length: (\d+)/i.exec(head)?.[1])).toBe(Buffer.byteLength(body));
      expect(JSON.parse(body)).toMatchObject({ id, visitorId: `visitor-${visitorNumber(7)}` });
    }
  });
});

describe('the client', () => {
  it('reads an answer that comes in pieces, and then the next', async () => {
    const server = createServer((request, response) => {
      response.writeHead(request.url === '/late' ? 503 : 202, { 'Content-Length': 10 });
      response.write('01234');
      setTimeout(() => response.end('56789'), 20);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const connection = await openConnection(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    const request = (path: string) => `GET ${path} HTTP/1.1\r\nHost: here\r\n\r\n`;
    const first = await connection.send(request('/'));
    const second = await connection.send(request('/late'));
    expect([first.status, first.body.toString()]).toEqual([202, '0123456789']);
    expect([second.status, second.body.toString()]).toEqual([503, '0123456789']);
    server.closeAllConnections();
    server.close();
    await expect(connection.send(request('/'))).rejects.toThrow();
  });
});

describe('the data sets', () => {
  it('reach from 20 months back to the end of the next month, with the busy day between', () => {
    expect(spanOf('2026-11-20')).toEqual({
      start: Date.parse('2025-03-01T00:00:00Z'),
      end: Date.parse('2027-01-01T00:00:00Z'),
      firstMonth: '2025-03',
      lastMonth: '2026-12',
      busyDay: '2026-01-15',
    });
  });
});
