/** The operations port: liveness, readiness, metrics and the queues' pages. For operators only, on loopback by default. */
import { createServer, type RequestListener, type Server } from 'node:http';
import { isTrustedHost } from './is-trusted-host.ts';

export interface Readiness {
  ready: boolean;
  /** what an operator should change, although it is ready; not shown where there is none */
  warnings?: string[];
  [part: string]: boolean | string | number | string[] | undefined;
}

export interface OpsOptions {
  readiness: () => Promise<Readiness>;
  metrics: () => Promise<{ type: string; text: string }>;
  /** serves `/queues` and all below it */
  queues?: RequestListener;
}

export function createOpsServer({ readiness, metrics, queues }: OpsOptions): Server {
  return createServer((request, response) => {
    const send = (status: number, type: string, body: string) => {
      response.writeHead(status, { 'Content-Type': type, 'X-Content-Type-Options': 'nosniff' }).end(body);
    };
    const fail = () => send(500, 'text/plain', 'failed\n');
    const [path = '/'] = (request.url ?? '/').split('?');
    if (!isTrustedHost(request.headers.host, request.socket.localAddress))
      send(403, 'text/plain', 'on loopback, use an IP address, localhost or the name of this machine\n');
    else if (queues && /^\/queues(\/|$)/.test(path)) queues(request, response);
    else if (path === '/livez') send(200, 'application/json', '{"live":true}\n');
    else if (path === '/readyz') {
      readiness().then(({ warnings = [], ...state }) => {
        const shown = warnings.length > 0 ? { ...state, warnings } : state;
        send(state.ready ? 200 : 503, 'application/json', `${JSON.stringify(shown)}\n`);
      }, fail);
    } else if (path === '/metrics') {
      metrics().then(({ type, text }) => send(200, type, text), fail);
    } else send(404, 'text/plain', 'paths: /livez /readyz /metrics /queues\n');
  });
}

/** Resolves once the port is open; rejects with one line where it cannot be. */
export function listen(server: Server, host: string, port: number, setting: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const reason = error.code === 'EADDRINUSE' ? 'is taken' : `cannot be opened: ${error.message}`;
      reject(new Error(`${setting} ${port} on ${host} ${reason}`));
    });
    server.listen(port, host, () => {
      const address = server.address();
      resolve(typeof address === 'object' && address ? address.port : port);
    });
  });
}
