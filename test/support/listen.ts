/** Servers of a test's own, each on a free port of the loopback. */
import { once } from 'node:events';
import type { Server as HttpServer } from 'node:http';
import type { AddressInfo, Server } from 'node:net';
import { atEnd } from './at-end.ts';

const speaksHttp = (server: Server): server is HttpServer => 'closeAllConnections' in server;

/** Returns its port. It ends with the file, and what is connected over HTTP with it. */
export async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  atEnd(() => {
    if (speaksHttp(server)) server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}
