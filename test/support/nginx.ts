/** The machine's nginx, or Debian's, with what a document has for it. */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { findProgram } from '../../scripts/stack/packages.ts';
import { startServer } from '../../scripts/stack/server.ts';
import { atEnd } from './at-end.ts';

interface Wanted {
  dataDir: string;
  port?: number;
  /** what stands beside the server block, and in it */
  around?: string;
  server: string;
}

export async function startNginx({ dataDir, port: wanted, around = '', server }: Wanted) {
  const { binary, env } = await findProgram({ names: ['nginx'], inPackage: 'usr/sbin/nginx', version: '-v' });
  mkdirSync(dataDir, { recursive: true });
  const file = path.join(dataDir, 'nginx.conf');
  const own = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${name};`);
  const running = await startServer({
    name: 'nginx',
    dataDir,
    ...(wanted !== undefined && { port: wanted }),
    command: binary,
    argumentsOf: (port) => {
      // as root its workers would be a user that may not reach the folder
      const user = process.getuid?.() === 0 ? 'user root;' : '';
      const http = `access_log off; ${own.join(' ')}\n${around}\nserver { listen 127.0.0.1:${port};\n${server}\n}`;
      writeFileSync(file, `daemon off; pid nginx.pid; ${user} events {}\nhttp { ${http} }\n`);
      return ['-p', `${dataDir}/`, '-c', file, '-e', 'stderr'];
    },
    tether: { env },
    urlOf: (port) => `http://localhost:${port}`,
    probe: (url) => fetch(url),
  });
  atEnd(running.stop);
  return running;
}
