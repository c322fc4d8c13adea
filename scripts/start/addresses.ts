/** Where the services listen: the usual ports when they are free, the user's own or none. */
import { Advice } from '../stack/advice.ts';
import { freePort, isFree } from '../stack/ports.ts';
import { given } from './environment.ts';

export interface Addresses {
  host: string;
  port: number;
  opsHost: string;
  opsPort: number;
  workerOpsPort: number;
}

export async function chooseAddresses(): Promise<Addresses> {
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
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw new Advice(`${name} must be a port, not "${wanted}".`);
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
