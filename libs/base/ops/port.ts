/** The operations port: state, metrics and the queues' pages. For operators only, on loopback by default. */
import { createServer, type RequestListener, type Server } from 'node:http';
import type { Server as AnyServer } from 'node:net';
import { hostname } from 'node:os';
import { Gauge, Registry } from 'prom-client';
import { lateQueue, type Readiness, type Shard, toAnswer } from './readiness.ts';
import { statusPage, statusPagePolicy } from './status-page.ts';

interface OpsOptions {
  /** of the process, for people */
  name: string;
  readiness: () => Promise<Readiness>;
  /** of the record queues; rejects where Redis does not answer */
  shards: () => Promise<Shard[]>;
  metrics: () => Promise<{ type: string; text: string }>;
  /** serves `/queues` and all below it */
  queues?: RequestListener;
}

export function createOpsServer({ name, readiness, shards, metrics, queues }: OpsOptions): Server {
  const paths = ['/livez', '/readyz', '/metrics', ...(queues ? ['/queues'] : [])];
  const look = async () => {
    // a Redis that takes no records may still answer
    const [state, seen] = await Promise.all([readiness(), shards().catch(() => null)]);
    return { readiness: { ...state, degraded: [...state.degraded, ...lateQueue(seen ?? [])] }, shards: seen };
  };
  // beside the metrics of the process, which with WEB_CONCURRENCY are those of others
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
        send(state.ready ? 200 : 503, 'application/json', `${JSON.stringify(toAnswer(state))}\n`);
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

/** What `/readyz` says, for alerts: a process that answers here may take no work. */
export const createReadyGauge = (register: Registry): Gauge =>
  new Gauge({ name: 'assent_ready', help: '1 while this process is ready to work', registers: [register] });

type PortSetting = 'PORT' | 'OPS_PORT';
const hostSettings: Record<PortSetting, string> = { PORT: 'HOST', OPS_PORT: 'OPS_HOST' };
const whyNoHost: Record<string, string> = {
  ENOTFOUND: 'cannot be resolved',
  EAI_AGAIN: 'cannot be resolved',
  EADDRNOTAVAIL: 'is not an address of this machine',
};

/** Resolves once the port is open; rejects with one line, which names the setting, where it cannot be. */
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
 * The port has no password, so on loopback only known names are answered, which prevents DNS rebinding: IP addresses,
 * `localhost` and the machine's own name. On other interfaces every name is: there the operator opened the port, and the
 * network guards it. `host`: the Host header; `localAddress`: the local address of the connection.
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
