import { type AddressInfo, connect, type Socket } from 'node:net';
import Koa from 'koa';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Context, Middleware, State } from '#libs/base/http/context';
import { exchange } from '#libs/base/http/exchange';
import { guard } from '#libs/base/http/guard';
import { createUnreadResponses, limitUnreadResponses } from '#libs/base/http/unread-responses';
import { createBaseMetrics } from '#libs/base/ops/metrics';
import { createLog } from '#libs/base/ops/process-log';
import { createSlots, type Slots } from '#libs/base/slots';
import { within } from '#libs/base/timers';
import { readInSlot } from '#libs/tenants/request-slots';
import { eventually, withinASecond } from '../support/wait.ts';

const organizationOf = (organizationId: string) => ({
  organizationId,
  name: organizationId,
  plan: { name: 'plan', consentLog: true, monthlyRecordLimit: null },
  cursorKey: new Uint8Array(),
  tokensSince: null,
  revokedTokens: new Set<string>(),
  people: new Map(),
  domains: new Map(),
});

describe('reads by turns over organizations, in two slots', () => {
  let server: ReturnType<Koa['listen']>;
  let port: number;
  let arrived: string[];
  let begun: string[];
  let ends: (() => void)[];
  let reads: Slots;
  beforeEach(async () => {
    arrived = [];
    begun = [];
    ends = [];
    reads = createSlots({ slots: 2, share: 1, waiting: 50 });
    const app = new Koa<State>();
    app.use(exchange({ log: createLog('test', 'silent'), metrics: createBaseMetrics() }));
    app.use((ctx, next) => {
      arrived.push(`${ctx.get('organization')} ${ctx.path}`);
      ctx.state.organization = organizationOf(ctx.get('organization'));
      ctx.params = {};
      return next();
    });
    // clients that leave are no news here
    app.silent = true;
    // as the deadline does
    app.use((ctx, next) => {
      const response = next();
      if (ctx.path !== '/late') return response;
      response.catch(() => {});
      ctx.status = 503;
      return;
    });
    app.use(limitUnreadResponses(createUnreadResponses(30_000_000), (ctx) => ctx.get('organization')));
    app.use(readInSlot(reads));
    const handle = async (ctx: Context) => {
      begun.push(`${ctx.get('organization')} ${ctx.path}`);
      if (ctx.path === '/broken') throw new Error('broken');
      if (ctx.path === '/long') await new Promise<void>((resolve) => ends.push(resolve));
      // more than the buffers between two sockets hold
      ctx.body = { text: ctx.path === '/large' ? 'x'.repeat(9_000_000) : 'small' };
    };
    const withBody = guard({ body: { schema: z.object({}) } }, handle);
    const without = guard({}, handle);
    const byMethod: Middleware = (ctx, next) => (ctx.method === 'POST' ? withBody : without)(ctx, next);
    app.use(byMethod);
    server = app.listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    port = (server.address() as AddressInfo).port;
  });
  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });

  /** Work without a slot would never start. */
  const soon = <T>(outcome: Promise<T>) => within(60_000, outcome);
  const ask = async (organization: string, path: string, signal: AbortSignal | null) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { organization }, signal });
    await response.arrayBuffer();
    return response.status;
  };
  const read = (organization: string, path: string, signal: AbortSignal | null = null) =>
    soon(ask(organization, path, signal));
  /** Takes the first bytes of its answer and no more. */
  const readNothing = async (organization: string) => {
    const socket = connect(port, '127.0.0.1').on('error', () => {});
    socket.write(`GET /large HTTP/1.1\r\nHost: x\r\norganization: ${organization}\r\n\r\n`);
    await soon(new Promise((resolve) => socket.once('readable', resolve)));
    return socket;
  };
  /** Sends the first bytes of its body and no more. */
  const sendSlowly = (organization: string) => {
    const socket = connect(port, '127.0.0.1').on('error', () => {});
    const headers = ['Host: x', `organization: ${organization}`, 'Content-Type: application/json', 'Content-Length: 9'];
    socket.write(`POST /slow HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n{`);
    return arrive(`${organization} /slow`, 1);
  };
  const arrive = (path: string, count: number) =>
    eventually(() => expect(arrived.filter((each) => each === path)).toHaveLength(count), withinASecond);
  const beginLong = async (organization: string) => {
    const count = ends.length;
    const response = read(organization, '/long');
    await eventually(() => expect(ends).toHaveLength(count + 1), withinASecond);
    return response;
  };

  it('a slot is for the work: who takes nothing of an answer, fails or sends a body holds none', async () => {
    await readNothing('a');
    expect(await read('a', '/broken')).toBe(500);
    await sendSlowly('a');
    expect(await read('a', '/small')).toBe(200);
    const long = beginLong('a');
    await eventually(() => expect(ends).toHaveLength(1), withinASecond);
    const after = read('a', '/after');
    await arrive('a /after', 1);
    expect(await read('b', '/small')).toBe(200);
    expect(begun).not.toContain('a /after');
    ends[0]?.();
    expect([await long, await after]).toEqual([200, 200]);
  });

  it('of unread responses the oldest of the organization with the most is ended', async () => {
    const closed: string[] = [];
    const idle: Socket[] = [];
    for (const [index, organization] of ['b', 'a', 'a', 'a'].entries()) {
      const socket = await readNothing(organization);
      socket.once('close', () => closed.push(`${organization} ${index}`));
      idle.push(socket);
    }
    // what was sent before the end is read first
    for (const socket of idle.slice(0, 2)) socket.resume();
    await eventually(() => expect(closed).toContain('a 1'), withinASecond);
    for (const socket of idle) socket.destroy();
  });

  it('who was answered or has left while waiting is passed over, and one that is too much is a 503', async () => {
    const long = beginLong('a');
    await eventually(() => expect(ends).toHaveLength(1), withinASecond);
    const late = await Promise.all(Array.from({ length: 60 }, () => read('a', '/late')));
    expect(new Set(late)).toEqual(new Set([503]));
    const leaving = new AbortController();
    const left = Array.from({ length: 20 }, () => read('a', '/left', leaving.signal).catch(() => 0));
    await arrive('a /left', 20);
    const stayed = Array.from({ length: 60 }, () => read('a', '/stayed'));
    const refused = stayed.map((status) => status.then((is) => is === 503 || Promise.reject(new Error('not refused'))));
    expect(await Promise.race(refused)).toBe(true);
    leaving.abort();
    expect(await read('b', '/small')).toBe(200);
    ends[0]?.();
    expect(new Set(await Promise.all(stayed))).toEqual(new Set([200, 503]));
    expect([await long, ...(await Promise.all(left))]).toEqual([200, ...Array<number>(20).fill(0)]);
    expect(begun).not.toContain('a /late');
    expect(await read('a', '/small')).toBe(200);
  });
});
