/** The pace of a long body: only the time in which the client is waited for counts. */
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Context } from '#libs/base/http/context';
import { readUpload } from '#libs/base/http/upload';

const second = 1_000;
/** bytes in a second */
const slowest = 16 * 1024;

describe('a long body', () => {
  let body: PassThrough;
  let upload: AsyncGenerator<Buffer>;

  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['performance'] });
    body = new PassThrough();
    const request = Object.assign(body, { headers: {}, socket: { setTimeout: () => {} } });
    upload = readUpload({ req: request, res: new PassThrough() } as unknown as Context, 1024 ** 3);
  });
  afterEach(() => void vi.useRealTimers());

  /** The reader waits for so many seconds until they come. */
  const arrive = async (bytes: number, seconds: number): Promise<number> => {
    const next = upload.next();
    vi.advanceTimersByTime(seconds * second);
    body.write(Buffer.alloc(bytes));
    return (await next).value?.length;
  };
  const tooSlow = { code: 'unavailable', message: expect.stringContaining('did not arrive in time') };

  it('is refused once the client was waited for a minute and sent too little', async () => {
    await arrive(1, 29);
    await arrive(1, 29);
    await expect(arrive(1, 29)).rejects.toMatchObject(tooSlow);
  });

  it('may be as slow as is allowed for as long as it likes', async () => {
    for (let times = 0; times < 20; times += 1) expect(await arrive(30 * slowest, 29)).toBe(30 * slowest);
  });

  it('is carried for a minute, and no longer, by what came fast before', async () => {
    await arrive(100 * 60 * slowest, 1);
    for (let times = 0; times < 5; times += 1) await arrive(1, 29);
    await expect(arrive(1, 29)).rejects.toMatchObject(tooSlow);
  });

  it('may be read as slowly as the stores take it', async () => {
    for (let times = 0; times < 5; times += 1) {
      expect(await arrive(1, 0)).toBe(1);
      vi.advanceTimersByTime(600 * second);
    }
    body.end();
    expect(await upload.next()).toEqual({ done: true, value: undefined });
  });
});
