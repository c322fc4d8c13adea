import { createSecretKey } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import fc from 'fast-check';
import Koa from 'koa';
import { describe, expect, it, onTestFinished } from 'vitest';
import { storedAddress } from '#libs/contract/stored-address';
import { clientAddress, network } from '../../apps/api/access/client-address.ts';
import type { State } from '../../apps/api/http/context.ts';

const none = { hashKey: undefined };
const truncated = { ...none, mode: 'truncated' } as const;
const key = (filler: string) => createSecretKey(filler.repeat(32), 'utf8');

describe('what is stored of an address', () => {
  it.each([
    ['203.0.113.77', '203.0.113.0'],
    ['203.0.113.0', '203.0.113.0'],
    ['255.255.255.255', '255.255.255.0'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1::'],
    ['2001:db8:1:ffff::1', '2001:db8:1::'],
    ['2001:0DB8:0001::1', '2001:db8:1::'],
    ['::1', '::'],
    ['fe80::1%eth0', 'fe80::'],
  ])('truncated: %s is %s', (address, expected) => {
    expect(storedAddress(address, truncated)).toBe(expected);
  });

  it('truncated: no two addresses of one /24 or /48 can be told apart', () => {
    fc.assert(
      fc.property(fc.ipV4(), fc.nat(255), (address, last) => {
        const sibling = address.replace(/\d+$/, String(last));
        expect(storedAddress(sibling, truncated)).toBe(storedAddress(address, truncated));
      }),
    );
    const part = fc.nat(0xffff).map((value) => value.toString(16));
    fc.assert(
      fc.property(
        fc.array(part, { minLength: 8, maxLength: 8 }),
        fc.array(part, { minLength: 5, maxLength: 5 }),
        (parts, rest) => {
          const sibling = [...parts.slice(0, 3), ...rest].join(':');
          expect(storedAddress(sibling, truncated)).toBe(storedAddress(parts.join(':'), truncated));
        },
      ),
    );
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

  it.each(['', 'unknown', '203.0.113', '203.0.113.77, 10.0.0.1', '203.0.113.77:80'])(
    'of no address is nothing: %j',
    (text) => {
      for (const mode of ['truncated', 'full', 'hashed'] as const)
        expect(storedAddress(text, { mode, hashKey: key('k') })).toBeUndefined();
    },
  );
});

describe('the network that a limit counts by', () => {
  it('is the address itself in IPv4 and the /64 in IPv6', () => {
    expect(network('203.0.113.77')).toBe('203.0.113.77');
    expect(network('2001:db8:1:2:3:4:5:6')).toBe('2001:db8:1:2::');
    expect(network('2001:db8:1:2::')).toBe(network('2001:db8:1:2:ffff::'));
    expect(network('2001:db8:1:3::')).not.toBe(network('2001:db8:1:2::'));
  });
});

describe('the client of a request', () => {
  /** What a server set up as the API is finds for requests with these headers. */
  const ask = async (hops: number, forwarded: string | undefined, listenOn = '127.0.0.1') => {
    const app = new Koa<State>(hops > 0 ? { proxy: true, maxIpsCount: hops } : {});
    app.use((ctx) => {
      ctx.body = clientAddress(ctx);
    });
    const server = createServer(app.callback());
    await new Promise<void>((resolve) => server.listen(0, listenOn, resolve));
    onTestFinished(() => void server.close());
    const address = server.address();
    const { port }: Pick<AddressInfo, 'port'> = typeof address === 'object' && address ? address : { port: 0 };
    const response = await fetch(`http://127.0.0.1:${port}`, {
      headers: { ...(forwarded !== undefined && { 'x-forwarded-for': forwarded }), connection: 'close' },
    });
    return response.text();
  };

  it('is the socket’s other end, whatever a header says, without trusted proxies', async () => {
    expect(await ask(0, '203.0.113.77')).toBe('127.0.0.1');
  });

  it('is what the trusted proxies added, and no more', async () => {
    expect(await ask(1, '203.0.113.77')).toBe('203.0.113.77');
    expect(await ask(1, '198.51.100.1, 203.0.113.77')).toBe('203.0.113.77');
    expect(await ask(2, '198.51.100.1, 203.0.113.77, 10.0.0.1')).toBe('203.0.113.77');
    expect(await ask(1, '2001:db8::1')).toBe('2001:db8::1');
    expect(await ask(1, undefined)).toBe('127.0.0.1');
  });

  it('is the socket’s other end where the header holds no address', async () => {
    for (const forwarded of ['unknown', '', '203.0.113.77:', 'x:8080', 'x, y'])
      expect(await ask(1, forwarded)).toBe('127.0.0.1');
  });

  it.each(['%eth0', '%br-lan', '%eth0.100'])('is known without the link that it came by: %s', async (zone) => {
    expect(await ask(1, `fe80::1${zone}`)).toBe('fe80::1');
    expect(await ask(1, `::ffff:203.0.113.77${zone}`)).toBe('203.0.113.77');
  });

  it.each([
    ['203.0.113.77:8080', '203.0.113.77'],
    ['[2001:db8::1]:443', '2001:db8::1'],
    ['[2001:db8::1]', '2001:db8::1'],
  ])('is known also where a gateway writes the port behind it: %s', async (forwarded, address) => {
    expect(await ask(1, forwarded)).toBe(address);
  });

  it('is an IPv4 address also where the server listens on IPv6', async () => {
    expect(await ask(0, undefined, '::')).toBe('127.0.0.1');
  });

  it.each(['::ffff:203.0.113.77', '::FFFF:203.0.113.77', '::ffff:cb00:714d'])(
    'that is IPv4 written as IPv6 is that IPv4 address: %s',
    async (forwarded) => {
      const address = await ask(1, forwarded);
      expect(address).toBe('203.0.113.77');
      expect(storedAddress(address, truncated)).toBe('203.0.113.0');
    },
  );
});
