/** Redis servers that belong together, with TLS by one certificate: what a cluster, and a server with sentinels, is made of. */
import path from 'node:path';
import { makeCertificate } from './certificate.ts';
import type { OnStop } from './private-stores.ts';
import { askRedis, connectTo, type RedisOptions, startRedis } from './redis.ts';
import { restartable, type ServerOptions } from './server.ts';

export type GroupOptions = Pick<ServerOptions, 'dataDir' | 'settings' | 'signal'>;

/** `host`: by which all of them are known, to the certificate too. What they start is registered to be stopped. */
export async function createGroup({ dataDir, signal }: GroupOptions, host: string, onStop: OnStop) {
  const certificate = await makeCertificate(dataDir, host);
  const startOne = async (name: string, options: Omit<RedisOptions, 'dataDir'>) => {
    const server = await startRedis({ dataDir: path.join(dataDir, name), signal, ...options });
    onStop(() => {
      server.kill();
      return server.exited;
    });
    return server;
  };
  /** Can be killed and started again, on its port and with its data. */
  const startAgainable = async (name: string, options: Omit<RedisOptions, 'dataDir'>) => {
    const again = (port?: number) => startOne(name, { ...options, port });
    return restartable(await again(), again);
  };
  const connect = ({ url }: { url: string }) => connectTo(url, certificate);
  const ask = ({ url }: { url: string }, ...command: [string, ...string[]]) => askRedis(url, certificate, ...command);
  return { certificate, startOne, startAgainable, connect, ask };
}
