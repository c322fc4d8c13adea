/** Where the services listen: the usual ports when they are free, the user's own or none. */
import { Advice } from '../stack/advice.ts';
import { freePort, isFree } from '../stack/ports.ts';
import { PortTaken } from './service.ts';
import { given } from './settings.ts';

export type Addresses = Awaited<ReturnType<typeof chooseAddresses>>;

export async function chooseAddresses() {
  const host = given('HOST') ?? '127.0.0.1';
  const opsHost = given('OPS_HOST') ?? '127.0.0.1';
  const port = await choosePort('PORT', 3000, host, []);
  const opsPort = await choosePort('OPS_PORT', 3001, opsHost, [port]);
  const workerOpsPort = await usualOrFree(opsPort + 1, opsHost, [port, opsPort]);
  return { host, port, opsHost, opsPort, workerOpsPort };
}

/** A base address that a client on this machine can use. */
export function baseUrl(host: string, port: number): string {
  const reachable = { '0.0.0.0': '127.0.0.1', '::': '::1' }[host] ?? host;
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}

async function choosePort(name: string, usual: number, host: string, others: number[]): Promise<number> {
  const wanted = given(name);
  if (wanted === undefined || wanted === '0') return usualOrFree(usual, host, others);
  const port = Number(wanted);
  const isPort = Number.isInteger(port) && port >= 0 && port <= 65_535;
  if (!isPort) throw new Advice(`${name} must be a port, not "${wanted}".`);
  if (others.includes(port) || !(await isFree(port, host))) {
    throw new Advice(`${name}: ${host}:${port} is taken. Free it, or choose another ${name}.`);
  }
  return port;
}

async function usualOrFree(usual: number, host: string, others: number[]): Promise<number> {
  if (!others.includes(usual) && (await isFree(usual, host))) return usual;
  for (;;) {
    const port = await freePort();
    if (!others.includes(port)) return port;
  }
}

/** Starts on free ports, and again on others where another process was quicker. */
export async function onFreePorts<T>(start: (addresses: Addresses) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await start(await chooseAddresses());
    } catch (error) {
      if (!(error instanceof PortTaken) || attempt === 5) throw error;
    }
  }
}
