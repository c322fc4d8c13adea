import { createSecretKey } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Koa from 'koa';
import { describe, expect, it, onTestFinished } from 'vitest';
import { clientAddress, network, storedAddress } from '#libs/base/http/client-address';
import type { Middleware, State } from '#libs/base/http/context';

const none = { hashKey: undefined };
const truncated = { ...none, mode: 'truncated' } as const;
const key = (filler: string) => createSecretKey(filler.repeat(32), 'utf8');

describe('what is stored of an address', () => {
  it.each([
    ['203.0.113.77', '203.0.113.0'],
    ['203.0.113.255', '203.0.113.0'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1::'],
    ['2001:db8:1:ffff::1', '2001:db8:1::'],
    ['::1', '::'],
    ['fe80::1%eth0', 'fe80::'],
  ])('truncated: %s is %s', (address, expected) => {
    expect(storedAddress(address, truncated)).toBe(expected);
  });

  it('full: is the address; none: nothing', () => {
    for (const address of ['203.0.113.77', '2001:db8::1']) {
      expect(storedAddress(address, { ...none, mode: 'full' })).toBe(address);
      expect(storedAddress(address, { ...none, mode: 'none' })).toBeUndefined();
    }
  });

  it('hashed: depends on the whole address and on the key, and shows neither', () => {
    const hashed = (address: string, filler = 'k') => storedAddress(address, { mode: 'hashed', hashKey: key(filler) });
    expect(hashed('203.0.113.77')).toMatch(/^[0-9a-f]{32}$/);
    expect(hashed('203.0.113.77')).toBe(hashed('203.0.113.77'));
    expect(hashed('203.0.113.78')).not.toBe(hashed('203.0.113.77'));
    expect(hashed('203.0.113.77', 'x')).not.toBe(hashed('203.0.113.77'));
  });

  it('of no address is nothing', () => {
    for (const text of ['', 'unknown', '203.0.113', '203.0.113.77, 10.0.0.1', '203.0.113.77:80'])
      for (const mode of ['truncated', 'full', 'hashed'] as const)
        expect(storedAddress(text, { mode, hashKey: key('k') })).toBeUndefined();
  });
});

it.each([
  ['203.0.113.77', '203.0.113.77'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::'],
  ['2001:db8:1:ffff:ffff::', '2001:db8:1:ffff::'],
])('the network by which a limit counts %s is %s', (address, counted) => {
  expect(network(address)).toBe(counted);
});

describe('the client of a request', () => {
  /** What a server set up as the API is finds for requests with these headers. */
  const ask = async (hops: number, forwarded: string | undefined, listenOn?: string) => {
    const app = new Koa<State>(hops > 0 ? { proxy: true, maxIpsCount: hops } : {});
    const answer: Middleware = (ctx) => {
      ctx.body = clientAddress(ctx);
    };
    app.use(answer);
    const server = createServer(app.callback());
    await new Promise<void>((resolve) => server.listen(0, listenOn, resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const response = await fetch(`http://127.0.0.1:${port}`, {
      headers: { ...(forwarded !== undefined && { 'x-forwarded-for': forwarded }), connection: 'close' },
    });
    return response.text();
  };

  it('is the socket’s other end, in IPv4 also where the server listens on IPv6, without trusted proxies', async () => {
    expect(await ask(0, '203.0.113.77', '127.0.0.1')).toBe('127.0.0.1');
    // on both, where the machine has IPv6
    expect(await ask(0, undefined)).toBe('127.0.0.1');
  });

  it.each([
    // what the trusted proxies added, and no more
    [1, '203.0.113.77', '203.0.113.77'],
    [1, '198.51.100.1, 203.0.113.77', '203.0.113.77'],
    [2, '198.51.100.1, 203.0.113.77, 10.0.0.1', '203.0.113.77'],
    [1, '2001:db8::1', '2001:db8::1'],
    // where it holds no address, the socket’s other end
    [1, undefined, '127.0.0.1'],
    [1, 'unknown', '127.0.0.1'],
    [1, '', '127.0.0.1'],
    [1, '203.0.113.77:', '127.0.0.1'],
    [1, 'x:8080', '127.0.0.1'],
    [1, 'x, y', '127.0.0.1'],
    // without the link that it came by
    [1, 'fe80::1%eth0', 'fe80::1'],
    [1, 'fe80::1%eth0.100', 'fe80::1'],
    [1, '::ffff:203.0.113.77%br-lan', '203.0.113.77'],
    // and without the port that a gateway writes behind it
    [1, '203.0.113.77:8080', '203.0.113.77'],
    [1, '[2001:db8::1]:443', '2001:db8::1'],
    [1, '[2001:db8::1]', '2001:db8::1'],
    // IPv4 written as IPv6
    [1, '::ffff:203.0.113.77', '203.0.113.77'],
    [1, '::FFFF:203.0.113.77', '203.0.113.77'],
    [1, '::ffff:cb00:714d', '203.0.113.77'],
  ])('with %i trusted proxies and X-Forwarded-For %j is %s', async (hops, forwarded, address) => {
    expect(await ask(hops, forwarded)).toBe(address);
  });
});
