import { afterEach, describe, expect, it, vi } from 'vitest';
import { createLog } from '#libs/base/ops/process-log';
import { makeApiKey } from '#libs/tenants/tenants';

const apiKey = makeApiKey();
const token = `eyJhbGciOiJIUzI1NiJ9.${Buffer.from('{"sub":"x"}').toString('base64url')}.c2lnbmF0dXJl`;

function written(write: (log: ReturnType<typeof createLog>) => void): string {
  const lines: string[] = [];
  write(createLog('test', 'info', { destination: { write: (line) => void lines.push(line) } }));
  expect(lines).toHaveLength(1);
  return lines[0] ?? '';
}

describe('a line of the log', () => {
  it('withholds fields that may hold a secret or a visitor, also in what is nested', () => {
    const credentials = ['apiKey', 'token', 'authorization', 'x-api-key', 'cookie'];
    const names = [...credentials, 'visitorId', 'ip', 'address', 'remoteAddress'];
    const fields = (value: string) => Object.fromEntries(names.map((name) => [name, value]));
    const nested = (value: string) => ({ ...fields(value), a: fields(value), b: { c: fields(value) } });
    const line = written((log) => log.info(nested('SECRET'), 'x'));
    expect(JSON.parse(line)).toMatchObject(nested('…'));
    expect(line).not.toContain('SECRET');
  });

  it.each([
    ['an API key', `no domain for ${apiKey}!`, apiKey],
    ['an access token', `cannot read ${token}.`, token],
    ["a store's password", 'connect to postgres://assent:hunter2@db:5432/assent failed', 'hunter2'],
  ])('withholds %s that is part of a message, an error or its cause', (_, text, secret) => {
    const line = written((log) => log.error({ err: new Error(text, { cause: new Error(text) }), detail: text }, text));
    expect(line).not.toContain(secret);
    expect(JSON.parse(line).msg).toContain('…');
  });

  it('stays one line with any content', () => {
    const text = 'a\n{"level":"info","msg":"forged"}\r\n\u2028\u0000\u001b[31m';
    const line = written((log) => log.warn({ text, err: new Error(text) }, text));
    expect(line.trimEnd()).not.toMatch(/\p{Cc}/u);
    expect(JSON.parse(line)).toMatchObject({ level: 'warn', msg: text, text });
  });

  it("shows a driver's error without the query", () => {
    const asked = { parameters: ['SECRET'], query: 'SECRET' };
    const error = Object.assign(new Error('value too long'), { code: '22001', ...asked });
    const line = written((log) => log.error({ err: error }, 'x'));
    expect(line).not.toContain('SECRET');
    expect(JSON.parse(line).err).toMatchObject({ message: 'value too long', code: '22001' });
  });
});

describe('a flood of lines', () => {
  afterEach(() => void vi.useRealTimers());

  function open() {
    // nothing passes but what a test lets pass
    vi.useFakeTimers({ toFake: ['performance'] });
    const lines: { msg: string; level: string; suppressed?: number; n?: number; err?: { message: string } }[] = [];
    const suppressed: string[] = [];
    const log = createLog('test', 'info', { destination: { write: (line) => void lines.push(JSON.parse(line)) } });
    log.onSuppressed((level) => suppressed.push(level));
    return { log, lines, suppressed };
  }

  it.each(['warn', 'error'] as const)('of one text at %s is one line a second, which counts the others', (level) => {
    const { log, lines, suppressed } = open();
    for (let n = 0; n < 1_000; n += 1) log[level]({ n }, 'it failed');
    vi.advanceTimersByTime(999);
    log[level]({ n: 1_000 }, 'it failed');
    expect(lines).toMatchObject([{ level, n: 0 }]);
    vi.advanceTimersByTime(1);
    log[level]({ n: 1_001 }, 'it failed');
    vi.advanceTimersByTime(1_000);
    log[level]({ n: 1_002 }, 'it failed');
    expect(lines).toMatchObject([{ n: 0 }, { n: 1_001, suppressed: 1_000 }, { n: 1_002 }]);
    // absent where nothing was left out
    expect(lines.map((line) => 'suppressed' in line)).toEqual([false, true, false]);
    expect(suppressed).toEqual(Array(1_000).fill(level));
  });

  it('of failed requests begins with five, so that each of a few can be found by its id', () => {
    const { log, lines } = open();
    const fail = (count: number) => {
      for (let n = 0; n < count; n += 1) log.warn({ requestId: `r-${lines.length}` }, 'failed request');
    };
    fail(100);
    expect(lines).toHaveLength(5);
    vi.advanceTimersByTime(1_000);
    fail(100);
    expect(lines).toHaveLength(6);
    expect(lines[5]).toMatchObject({ suppressed: 95 });
    vi.advanceTimersByTime(10_000);
    fail(100);
    expect(lines).toHaveLength(11);
  });

  it('holds back no other text, no other bug of the same text, and nothing at info, which has few lines', () => {
    const { log, lines, suppressed } = open();
    for (const text of ['one', 'one', 'two']) log.warn({}, text);
    const bug = (n: number) => new Error(`bug ${n}`);
    const another = () => new Error('another');
    for (const err of [bug(1), bug(2), another()]) log.error({ event: 'bug', err }, 'unexpected error');
    expect(lines.map(({ msg, err }) => err?.message ?? msg)).toEqual(['one', 'two', 'bug 1', 'another']);
    for (let n = 0; n < 10; n += 1) log.info({ n }, 'dropped a month');
    expect([lines.length, suppressed.length]).toEqual([14, 2]);
  });
});
