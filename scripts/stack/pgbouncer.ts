/** A private PgBouncer in transaction mode before a Postgres: it takes what its users take, and few server connections. */
import path from 'node:path';
import { readAddress } from '#libs/base/db/address';
import { type Certificate, handCertificate } from './certificate.ts';
import { loginsAt } from './logins.ts';
import { findProgram } from './packages.ts';
import { onConnection } from './postgres.ts';
import { type ServerOptions, startServer } from './server.ts';
import { reachableFolder, serviceUser, writeFor } from './service-user.ts';

interface PgBouncerOptions extends ServerOptions {
  /** the address of Postgres, with the user and the password of both; API and worker may have logins of their own */
  databaseUrl: string;
  /** its own and that of Postgres: then there is TLS to it, and from it to Postgres */
  certificate?: Certificate | undefined;
}

/** `settings`: lines of the section `[pgbouncer]`, such as `{ default_pool_size: '4' }` */
export async function startPgBouncer(options: PgBouncerOptions) {
  const { databaseUrl, certificate, settings = {}, port, say = () => {}, signal } = options;
  const { binary, env } = await findProgram({ names: ['pgbouncer'], inPackage: 'usr/sbin/pgbouncer', say, signal });
  const user = serviceUser();
  const dataDir = reachableFolder(path.resolve(options.dataDir), user, say);
  const server = new URL(databaseUrl);
  const users = path.join(dataDir, 'users.txt');
  const logins = [server.href, ...Object.values(loginsAt(server.href))].map((address) => new URL(address));
  writeFor(user, users, logins.map(({ username, password }) => `"${username}" "${password}"\n`).join(''));
  const file = path.join(dataDir, 'pgbouncer.ini');
  const tls = certificate && tlsSettings(handCertificate(certificate, dataDir, user));
  const writeConfig = (onPort: number, to: URL) => {
    const all = {
      listen_addr: '127.0.0.1',
      listen_port: String(onPort),
      unix_socket_dir: '',
      auth_type: 'scram-sha-256',
      auth_file: users,
      pool_mode: 'transaction',
      // after an outage of Postgres it would otherwise wait for 15 s
      server_login_retry: '1',
      // it starts as root to read its program, and goes on as this user
      ...(user && { user: user.name }),
      ...tls,
      ...settings,
    };
    const lines = Object.entries(all).map(([name, value]) => `${name} = ${value}`);
    const database = `${to.pathname.slice(1)} = host=${to.hostname} port=${to.port}`;
    writeFor(user, file, ['[databases]', database, '[pgbouncer]', ...lines, ''].join('\n'));
  };
  const running = await startServer({
    name: 'PgBouncer',
    dataDir,
    port,
    signal,
    urlOf: (onPort) => {
      const url = new URL(databaseUrl);
      url.host = `127.0.0.1:${onPort}`;
      if (certificate) url.search = `sslmode=verify-full&sslrootcert=${encodeURIComponent(certificate.certFile)}`;
      return url.toString();
    },
    command: binary,
    argumentsOf: (onPort) => {
      writeConfig(onPort, server);
      return [file];
    },
    tether: { env, stopSignal: 'SIGINT' },
    probe: (address) => {
      const { url, ssl } = readAddress(address);
      return onConnection(url, { ssl, prepare: false, fetch_types: false }, async (sql) => sql`select 1`);
    },
  });
  return {
    ...running,
    /** To another server, without a restart. */
    leadTo: (other: string) => {
      writeConfig(running.port, new URL(other));
      running.child.kill('SIGHUP');
    },
  };
}

const tlsSettings = ({ keyFile, certFile }: Certificate) => ({
  client_tls_sslmode: 'require',
  client_tls_key_file: keyFile,
  client_tls_cert_file: certFile,
  server_tls_sslmode: 'verify-full',
  server_tls_ca_file: certFile,
});
