/** Chooses the ports of the services, and the URLs that they have there. */
import { Advice } from '../stack/advice.ts';
import { freePort, isFree, isTaken } from '../stack/ports.ts';
import { given } from './settings.ts';

/** Another process took the port after it was chosen. */
export class PortTaken extends Advice {}

export type Addresses = Awaited<ReturnType<typeof chooseAddresses>>;

/** The ports that the user has set, or else the usual ones if they are free, or any free ones. */
export async function chooseAddresses() {
  const host = given('HOST') ?? '127.0.0.1';
  const opsHost = given('OPS_HOST') ?? '127.0.0.1';
  const port = await choosePort('PORT', 3000, host, []);
  const opsPort = await choosePort('OPS_PORT', 3001, opsHost, [port]);
  const workerOpsPort = await usualOrFree(opsPort + 1, opsHost, [port, opsPort]);
  return { host, port, opsHost, opsPort, workerOpsPort };
}

/** Whether a service that listens on this host is reachable as localhost. */
const isLocal = (host: string): boolean => ['127.0.0.1', '::1', 'localhost', '0.0.0.0', '::'].includes(host);

/** For people on this machine: browsers allow localhost things that they refuse an IP address. */
export const pagesUrl = (host: string, port: number): string =>
  isLocal(host) ? `http://localhost:${port}` : baseUrl(host, port);

/** PUBLIC_URL, or localhost, which is the only address allowed without TLS. */
export const publicUrl = (host: string, port: number): string | undefined =>
  given('PUBLIC_URL') ?? (isLocal(host) ? pagesUrl(host, port) : undefined);

/** A base URL for clients on this machine. */
export function baseUrl(host: string, port: number): string {
  const reachable = { '0.0.0.0': '127.0.0.1', '::': '::1' }[host] ?? host;
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}

/** Also checks both loopback addresses: browsers must not reach another service as localhost. */
const isFreeAt = async (port: number, host: string): Promise<boolean> =>
  (await isFree(port, host)) &&
  !(isLocal(host) && ((await isTaken(port, '::1')) || (await isTaken(port, '127.0.0.1'))));

async function choosePort(name: string, usual: number, host: string, others: number[]): Promise<number> {
  const wanted = given(name);
  if (wanted === undefined || wanted === '0') return usualOrFree(usual, host, others);
  const port = Number(wanted);
  const isPort = Number.isInteger(port) && port >= 0 && port <= 65_535;
  if (!isPort) throw new Advice(`${name} must be a port, not "${wanted}".`);
  if (others.includes(port) || !(await isFreeAt(port, host))) {
    throw new Advice(`${name}: ${host}:${port} is taken. Free it, or choose another ${name}.`);
  }
  return port;
}

async function usualOrFree(usual: number, host: string, others: number[]): Promise<number> {
  if (!others.includes(usual) && (await isFreeAt(usual, host))) return usual;
  for (;;) {
    const port = await freePort();
    if (!others.includes(port)) return port;
  }
}

/** Starts on free ports, and retries on others if another process took one meanwhile. */
export async function onFreePorts<T>(start: (addresses: Addresses) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await start(await chooseAddresses());
    } catch (error) {
      if (!(error instanceof PortTaken) || attempt === 5) throw error;
    }
  }
}
