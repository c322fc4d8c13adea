/** Opens the operations port on one network only, given by a name that resolves to this machine on that network. */
import { lookup } from 'node:dns/promises';
import type { Server } from 'node:http';
import { createServer, isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { listen } from './port.ts';

const loopback = '127.0.0.1';

/**
 * Opens `server` on `host`, an address or a name, and resolves to the port. A name may resolve to several machines, such as
 * all containers of a service: only this machine's own address is opened, and loopback for health checks. Rejects with one
 * line if that is not possible.
 */
export async function listenForOperators(
  server: Server,
  host: string,
  port: number,
  find = async (name: string) => (await lookup(name, { all: true })).map(({ address }) => address),
): Promise<number> {
  if (isIP(host) !== 0) return listen(server, host, port, 'OPS_PORT');
  const own = Object.values(networkInterfaces()).flatMap((each) => each?.map(({ address }) => address) ?? []);
  const found = await find(host).catch(() => []);
  const address = found.find((each) => own.includes(each));
  if (address === undefined)
    throw new Error(`OPS_PORT ${port} cannot be opened: ${host}, of OPS_HOST, leads to no address of this machine`);
  const opened = await listen(server, address, port, 'OPS_PORT');
  if (address === loopback) return opened;
  const beside = createServer((socket) => server.emit('connection', socket)).unref();
  await listen(beside, loopback, opened, 'OPS_PORT');
  server.once('close', () => beside.close());
  return opened;
}
