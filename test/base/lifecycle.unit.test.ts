/** How a process ends: in order, with a deadline, and in no other way. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { endOnSignals, inOrder, type Running } from '#libs/base/lifecycle';

const lines: string[] = [];
const say = (_: object, text?: string) => void lines.push(String(text));
const log = { info: say, error: say } as unknown as Parameters<typeof endOnSignals>[1]['log'];
beforeEach(() => {
  lines.length = 0;
});

it('what runs is stopped in order, once, also where a step fails', async () => {
  const step = (name: string) => ({ name, stop: async () => void lines.push(name) });
  const failing = { name: 'failing', stop: () => Promise.reject(new Error('fails')) };
  const stop = inOrder([step('first'), failing, step('last')], log);
  expect(await Promise.all([stop(), stop()])).toEqual([false, false]);
  expect(lines).toEqual(['first', 'a shutdown step failed', 'last']);
  expect(await inOrder([step('only')], log)()).toBe(true);
});

describe('a process', () => {
  const handlers = new Map<string, (argument?: unknown) => void>();
  let exited: Promise<number>;

  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout'] });
    vi.spyOn(process, 'on').mockImplementation((event, handler) => {
      handlers.set(String(event), handler);
      return process;
    });
    exited = new Promise((resolve) => {
      vi.spyOn(process, 'exit').mockImplementation((code) => resolve(Number(code)) as never);
    });
  });
  afterEach(() => {
    vi.restoreAllMocks();
    vi.useRealTimers();
  });

  const run = (running: Partial<Running> = {}) =>
    endOnSignals(Promise.resolve({ stop: async () => true, recover: () => false, ...running }), { deadline: 9, log });

  it.each(['SIGTERM', 'SIGINT'])('that gets a %s, and others after it, stops once and exits with 0', async (signal) => {
    const stop = vi.fn(async () => true);
    await run({ stop });
    for (const each of [signal, 'SIGTERM', 'SIGINT']) handlers.get(each)?.();
    expect(await exited).toBe(0);
    expect([stop.mock.calls.length, lines]).toEqual([1, ['stopping', 'stopped']]);
  });

  it.each<[string, string, Partial<Running>, string[]]>([
    ['whose stopping fails', 'SIGTERM', { stop: async () => false }, ['stopping', 'stopped']],
    ['that meets an uncaught error', 'uncaughtException', {}, ['uncaught error', 'stopping', 'stopped']],
    ['that meets an unhandled rejection', 'unhandledRejection', {}, ['unhandled rejection', 'stopping', 'stopped']],
  ])('%s ends in order and exits with 1', async (_, event, running, said) => {
    await run(running);
    handlers.get(event)?.(new TypeError('lost'));
    expect([await exited, lines]).toEqual([1, said]);
  });

  it('that can recover from an uncaught error goes on', async () => {
    await run({ recover: (error) => error instanceof TypeError });
    handlers.get('uncaughtException')?.(new TypeError('lost'));
    expect(lines).toEqual(['uncaught error']);
    expect(process.exit).not.toHaveBeenCalled();
  });

  it('that does not stop in time exits with 1', async () => {
    await run({ stop: () => new Promise(() => {}) });
    handlers.get('SIGTERM')?.();
    vi.advanceTimersByTime(9);
    expect([await exited, lines]).toEqual([1, ['stopping', 'did not stop in time']]);
  });

  it('that gets a signal while it opens stops once it has opened', async () => {
    let open = (_: Running) => {};
    const opening = new Promise<Running>((resolve) => {
      open = resolve;
    });
    const stop = vi.fn(async () => true);
    const ended = endOnSignals(opening, { deadline: 9, log });
    handlers.get('SIGTERM')?.();
    open({ stop, recover: () => false });
    await ended;
    expect([await exited, stop.mock.calls.length]).toEqual([0, 1]);
  });
});
