import type { AddressInfo } from 'node:net';
import { connect } from 'node:net';
import Koa from 'koa';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createLog } from '#libs/telemetry/log';
import { createMetrics, type Metrics } from '#libs/telemetry/metrics';
import { fairTurns } from '../../apps/api/access/fair-turns.ts';
import type { State } from '../../apps/api/http/context.ts';
import { exchange } from '../../apps/api/http/exchange.ts';

const organizationOf = (organizationId: string) => ({
  organizationId,
  name: organizationId,
  plan: { name: 'plan', consentLog: true, monthlyRecordLimit: null },
  cursorKey: new Uint8Array(),
  tokensSince: null,
  revokedTokens: [],
  domains: [],
});

describe('reads of one organization that take turns, one at a time', () => {
  let server: ReturnType<Koa['listen']>;
  let port: number;
  let begun: string[];
  let metrics: Metrics;
  beforeEach(async () => {
    begun = [];
    metrics = createMetrics();
    const app = new Koa<State>();
    app.use(exchange({ log: createLog('test', 'silent'), metrics }));
    app.use((ctx, next) => {
      ctx.state.organization = organizationOf(ctx.get('organization'));
      return next();
    });
    // clients that leave are no news here
    app.silent = true;
    // as the deadline does
    app.use((ctx, next) => {
      const answer = next();
      if (ctx.path !== '/late') return answer;
      ctx.status = 503;
      return;
    });
    app.use(fairTurns(1));
    app.use((ctx) => {
      begun.push(`${ctx.get('organization')} ${ctx.path}`);
      if (ctx.path === '/broken') throw new Error('broken');
      // more than the buffers between two sockets hold
      ctx.body = { text: ctx.path === '/large' ? 'x'.repeat(30_000_000) : 'small' };
    });
    server = app.listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    port = (server.address() as AddressInfo).port;
  });
  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });

  const read = async (organization: string, path: string, signal: AbortSignal | null = null) => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { organization }, signal });
    await answer.arrayBuffer();
    return answer.status;
  };
  /** Takes the first bytes of its answer and no more. */
  const readNothing = async (organization: string, path: string) => {
    const socket = connect(port, '127.0.0.1');
    socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\norganization: ${organization}\r\n\r\n`);
    await new Promise((resolve) => socket.once('readable', resolve));
    return socket;
  };

  it('a large answer keeps its turn while its reader takes nothing, and others are not concerned', async () => {
    const idle = await readNothing('a', '/large');
    const waiting = read('a', '/small');
    for (let count = 0; count < 20; count += 1) expect(await read('b', '/small')).toBe(200);
    expect(begun).not.toContain('a /small');
    idle.destroy();
    expect(await waiting).toBe(200);
  });

  it('a small one, and one that failed, pass it on at once', async () => {
    await readNothing('a', '/small');
    expect(await read('a', '/broken')).toBe(500);
    expect(await metrics.register.getSingleMetricAsString('assent_http_faults_total')).toMatch(/ 1$/);
    expect(await read('a', '/large')).toBe(200);
    expect(await read('a', '/small')).toBe(200);
  });

  it('who was answered while waiting leaves the line, which others then have to themselves', async () => {
    const idle = await readNothing('a', '/large');
    const late = await Promise.all(Array.from({ length: 210 }, () => read('a', '/late')));
    expect(new Set(late)).toEqual(new Set([503]));
    const stayed = Array.from({ length: 200 }, () => read('a', '/stayed'));
    idle.destroy();
    expect(new Set(await Promise.all(stayed))).toEqual(new Set([200]));
    expect(begun).not.toContain('a /late');
  });

  it('who left while waiting is passed over, and a line that is too long is a 503', async () => {
    const idle = await readNothing('a', '/large');
    const leaving = new AbortController();
    const left = Array.from({ length: 100 }, () => read('a', '/left', leaving.signal).catch(() => 0));
    const stayed = Array.from({ length: 110 }, () => read('a', '/stayed'));
    const refused = stayed.map((status) => status.then((is) => is === 503 || Promise.reject(new Error('not refused'))));
    expect(await Promise.any(refused)).toBe(true);
    leaving.abort();
    idle.destroy();
    expect(new Set(await Promise.all(stayed))).toEqual(new Set([200, 503]));
    await Promise.all(left);
    expect(await read('a', '/small')).toBe(200);
  });
});
