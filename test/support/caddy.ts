/** Caddy with the `Caddyfile` of the compose file. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { findCaddy } from '../../scripts/stack/packages.ts';
import { root } from '../../scripts/stack/paths.ts';
import { freePort } from '../../scripts/stack/ports.ts';
import { startServer } from '../../scripts/stack/server.ts';
import { atEnd } from './at-end.ts';

/** `apiPorts`: of the API, here; with several, an address each, in place of those that DNS would name. */
export async function startCaddy(dataDir: string, ...apiPorts: string[]) {
  const { binary, env } = await findCaddy();
  mkdirSync(dataDir, { recursive: true });
  let httpPort = 0;
  let healthPort = 0;
  const certificate = () => readFileSync(path.join(dataDir, 'caddy/pki/authorities/local/root.crt'), 'utf8');
  const file = path.join(dataDir, 'Caddyfile');
  const written = readFileSync(path.join(root, 'apps/Caddyfile'), 'utf8');
  const addresses = apiPorts.map((port) => `127.0.0.1:${port}`).join(' ');
  const [apiPort] = apiPorts;
  writeFileSync(
    file,
    apiPorts.length > 1 ? written.replace(/dynamic a \{[\s\S]*?\n\t\t\}/, `to ${addresses}`) : written,
  );
  const [, version = ''] =
    /^v?(\d+\.\d+\.\d+)/.exec(spawnSync(binary, ['version'], { env, encoding: 'utf8' }).stdout) ?? [];
  const server = await startServer({
    name: 'Caddy',
    dataDir,
    command: '/bin/sh',
    argumentsOf: async (port) => {
      [httpPort, healthPort] = [await freePort(), await freePort()];
      const ports = `HTTPS_PORT=${port} HTTP_PORT=${httpPort} HEALTH_PORT=${healthPort}`;
      return ['-c', `${ports} exec "${binary}" run --config "${file}" --adapter caddyfile`];
    },
    tether: {
      env: {
        ...env,
        HOME: dataDir,
        XDG_DATA_HOME: dataDir,
        XDG_CONFIG_HOME: dataDir,
        // what ends in .local gets a certificate of the authority, too
        SITE_ADDRESS: 'localhost, assent.local',
        API_HOST: 'localhost',
        API_PORT: apiPort,
      },
    },
    urlOf: (port) => `https://localhost:${port}`,
    probe: async () => {
      certificate();
      const { status } = await fetch(`http://127.0.0.1:${healthPort}/`);
      if (status !== 200) throw new Error(`it answers ${status}`);
    },
  });
  atEnd(server.stop);
  return { ...server, version, certificate: certificate(), plainUrl: `http://localhost:${httpPort}` };
}
