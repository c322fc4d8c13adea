import { describe, expect, it } from 'vitest';
import { makeApiKey } from '#libs/store/tenants/tenants';
import { createLog } from '#libs/telemetry/log';

const apiKey = makeApiKey();
const token = `eyJhbGciOiJIUzI1NiJ9.${Buffer.from('{"sub":"x"}').toString('base64url')}.c2lnbmF0dXJl`;

function written(write: (log: ReturnType<typeof createLog>) => void): string {
  const lines: string[] = [];
  write(createLog('test', 'info', { write: (line) => void lines.push(line) }));
  expect(lines).toHaveLength(1);
  return lines[0] ?? '';
}

describe('a line of the log', () => {
  it.each(['apiKey', 'token', 'authorization', 'x-api-key', 'cookie', 'visitorId', 'ip', 'address', 'remoteAddress'])(
    'withholds a field %s, also in what is nested',
    (name) => {
      const line = written((log) =>
        log.info({ [name]: 'SECRET', a: { [name]: 'SECRET' }, b: { c: { [name]: 'SECRET' } } }, 'x'),
      );
      expect(line).not.toContain('SECRET');
      expect(JSON.parse(line)).toMatchObject({ [name]: '…', a: { [name]: '…' }, b: { c: { [name]: '…' } } });
    },
  );

  it.each([
    ['an API key', `no domain for ${apiKey}!`, apiKey],
    ['an access token', `cannot read ${token}.`, token],
    ["a store's password", 'connect to postgres://assent:hunter2@db:5432/assent failed', 'hunter2'],
  ])('withholds %s that is part of a message, an error or its cause', (_, text, secret) => {
    const line = written((log) => log.error({ err: new Error(text, { cause: new Error(text) }), detail: text }, text));
    expect(line).not.toContain(secret);
    expect(JSON.parse(line).msg).toContain('…');
  });

  it('stays one line, whatever is in it', () => {
    const text = 'a\n{"level":"info","msg":"forged"}\r\n\u2028\u0000\u001b[31m';
    const line = written((log) => log.warn({ text, err: new Error(text) }, text));
    expect(line.trimEnd()).not.toMatch(/\p{Cc}/u);
    expect(JSON.parse(line)).toMatchObject({ level: 'warn', msg: text, text });
  });

  it("tells a driver's error without what was asked of it", () => {
    const error = Object.assign(new Error('value too long'), {
      code: '22001',
      parameters: ['SECRET'],
      query: 'SECRET',
    });
    const line = written((log) => log.error({ err: error }, 'x'));
    expect(line).not.toContain('SECRET');
    expect(JSON.parse(line).err).toMatchObject({ message: 'value too long', code: '22001' });
  });
});
