/** The operations port: state, metrics and the queue pages. For operators only, on loopback by default. */
import { createServer, type RequestListener, type Server } from 'node:http';
import type { Server as AnyServer } from 'node:net';
import { hostname } from 'node:os';
import { Gauge, Registry } from 'prom-client';
import { lateQueue, type Readiness, readyzBody, type Shard } from './readiness.ts';
import { statusPage, statusPagePolicy } from './status-page.ts';

interface OpsOptions {
  /** of the process, as people read it */
  name: string;
  readiness: () => Promise<Readiness>;
  /** of the record queues; rejects if Redis does not respond */
  shards: () => Promise<Shard[]>;
  metrics: () => Promise<{ type: string; text: string }>;
  /** serves `/queues` and the paths below it */
  queues?: RequestListener;
}

export function createOpsServer({ name, readiness, shards, metrics, queues }: OpsOptions): Server {
  const paths = ['/livez', '/readyz', '/metrics', ...(queues ? ['/queues'] : [])];
  const look = async () => {
    // a Redis that takes no records may still respond
    const [state, seen] = await Promise.all([readiness(), shards().catch(() => null)]);
    return { readiness: { ...state, degraded: [...state.degraded, ...lateQueue(seen ?? [])] }, shards: seen };
  };
  // a registry of its own: with WEB_CONCURRENCY the metrics of the process include other processes
  const own = new Registry();
  const ready = createReadyGauge(own);
  const readyMetric = async () => {
    ready.set((await readiness()).ready ? 1 : 0);
    return own.metrics();
  };
  return createServer((request, response) => {
    const send = (status: number, type: string, body: string, headers: Record<string, string> = {}) => {
      response.writeHead(status, { 'Content-Type': type, 'X-Content-Type-Options': 'nosniff', ...headers }).end(body);
    };
    const fail = () => send(500, 'text/plain', 'failed\n');
    const [path = '/'] = (request.url ?? '/').split('?');
    if (!isTrustedHost(request.headers.host, request.socket.localAddress))
      send(403, 'text/plain', 'on loopback, use an IP address, localhost or the name of this machine\n');
    else if (queues && /^\/queues(\/|$)/.test(path)) queues(request, response);
    else if (path === '/livez') send(200, 'application/json', '{"live":true}\n');
    else if (path === '/readyz') {
      look().then(({ readiness: state }) => {
        send(state.ready ? 200 : 503, 'application/json', `${JSON.stringify(readyzBody(state))}\n`);
      }, fail);
    } else if (path === '/') {
      look().then((state) => {
        const headers = { 'Content-Security-Policy': statusPagePolicy, 'Cache-Control': 'no-store' };
        send(200, 'text/html; charset=utf-8', statusPage({ name, links: paths, ...state }), headers);
      }, fail);
    } else if (path === '/metrics') {
      Promise.all([metrics(), readyMetric()]).then(
        ([{ type, text }, ready]) => send(200, type, `${text}${ready}`),
        fail,
      );
    } else send(404, 'text/plain', `paths: / ${paths.join(' ')}\n`);
  });
}

/** The result of `/readyz` as a metric: a process whose port is open may still be unable to work. */
export const createReadyGauge = (register: Registry): Gauge =>
  new Gauge({ name: 'assent_ready', help: '1 while this process is ready to work', registers: [register] });

type PortSetting = 'PORT' | 'OPS_PORT';
const hostSettings: Record<PortSetting, string> = { PORT: 'HOST', OPS_PORT: 'OPS_HOST' };
const whyNoHost: Record<string, string> = {
  ENOTFOUND: 'cannot be resolved',
  EAI_AGAIN: 'cannot be resolved',
  EADDRNOTAVAIL: 'is not an address of this machine',
};

/** Resolves once the port is open; otherwise rejects with one line that names the setting. */
export function listen(server: AnyServer, host: string, port: number, setting: PortSetting): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const why = whyNoHost[error.code ?? ''];
      if (why) return reject(new Error(`${hostSettings[setting]} ${host} ${why}: ${error.message}`));
      const reason = error.code === 'EADDRINUSE' ? 'is taken' : `cannot be opened: ${error.message}`;
      reject(new Error(`${setting} ${port} on ${host} ${reason}`));
    });
    server.listen(port, host, () => {
      const address = server.address();
      resolve(typeof address === 'object' && address ? address.port : port);
    });
  });
}

const loopback = /^(::ffff:)?127\.|^::1$/;
/** DNS rebinding needs a name in a foreign domain; an address cannot be rebound. */
const addressOrLocalhost = /^(localhost|\d+(\.\d+){3}|\[[\da-f:.]+\])$/i;

/**
 * The port has no password. On loopback only IP addresses, `localhost` and the machine's own name are accepted, which
 * prevents DNS rebinding. On other interfaces every name is accepted: the operator opened the port there, and the network
 * protects it. `host`: the Host header; `localAddress`: the connection's local address.
 */
export function isTrustedHost(
  host: string | undefined,
  localAddress: string | undefined,
  ownName = hostname(),
): boolean {
  if (host === undefined || !loopback.test(localAddress ?? '')) return true;
  const name = host.replace(/:\d+$/, '');
  return addressOrLocalhost.test(name) || name.toLowerCase() === ownName.toLowerCase();
}
