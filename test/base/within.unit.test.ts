import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { TimedOut, within } from '#libs/base/timers';

const patience = 30;

/** Keeps the whole process busy. */
function standStill(milliseconds: number): void {
  const began = performance.now();
  while (performance.now() - began < milliseconds);
}

describe('what is waited for only so long', () => {
  let store: Socket;
  let client: Socket;
  const server = createServer();

  beforeAll(async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const accepted = once(server, 'connection');
    client = connect((server.address() as AddressInfo).port, '127.0.0.1');
    // either end may hear of it first
    const [[socket]] = await Promise.all([accepted, once(client, 'connect')]);
    store = socket;
  });
  afterAll(() => {
    client.destroy();
    server.close();
  });

  const answer = async () => String(await once(client, 'data'));

  it('has responded, if its response came while this process stood still', async () => {
    const onTimeout = vi.fn();
    const result = within(patience, answer(), onTimeout);
    store.write('here');
    standStill(2 * patience);
    expect(await result).toBe('here');
    expect(onTimeout).not.toHaveBeenCalled();
  });

  it('is late, if no response came while this process stood still', async () => {
    const onTimeout = vi.fn();
    const late = answer();
    const result = within(patience, late, onTimeout);
    standStill(2 * patience);
    await expect(result).rejects.toThrow(TimedOut);
    expect(onTimeout).toHaveBeenCalledOnce();
    // the work goes on
    store.write('at last');
    expect(await late).toBe('at last');
  });
});
