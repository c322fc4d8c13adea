import { createServer } from 'node:http';
import { networkInterfaces } from 'node:os';
import { expect, it, onTestFinished } from 'vitest';
import { listenForOperators } from '#libs/base/ops/port-address';

const loopback = '127.0.0.1';
/** an IPv4 address that others can reach, where this machine has one */
const outer = Object.values(networkInterfaces())
  .flatMap((each) => each ?? [])
  .find(({ family, internal }) => family === 'IPv4' && !internal)?.address;

const open = async (...addresses: string[]): Promise<(address: string) => Promise<string>> => {
  const server = createServer((_, response) => response.end('here'));
  onTestFinished(() => void server.close());
  const port = await listenForOperators(server, 'several', 0, async () => addresses).catch((error: Error) => {
    // what is free on one address may be another program's on loopback
    if (!error.message.endsWith('is taken')) throw error;
  });
  if (port === undefined) return open(...addresses);
  return (address: string) =>
    fetch(`http://${address}:${port}/`).then(
      (response) => response.text(),
      () => 'refused',
    );
};

it.skipIf(outer === undefined)(
  'the operations port opens on the one address of a shared name that is this machine’s, and on loopback',
  async () => {
    const ask = await open('203.0.113.9', outer ?? '', '203.0.113.10');
    // as any other network of this machine
    expect(await Promise.all([outer ?? '', loopback, '127.0.0.2'].map(ask))).toEqual(['here', 'here', 'refused']);
  },
);

it('on loopback alone where the name leads there, and nowhere where it leads elsewhere', async () => {
  const ask = await open(loopback);
  expect(await Promise.all([loopback, outer ?? '127.0.0.2'].map(ask))).toEqual(['here', 'refused']);
  await expect(open('203.0.113.9')).rejects.toThrow(
    'OPS_PORT 0 cannot be opened: several, of OPS_HOST, leads to no address of this machine',
  );
});
