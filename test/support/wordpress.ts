/** Debian's WordPress in a folder of a test's own, with PHP's server and a MariaDB; none of it is installed. */

import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, readFileSync, readlinkSync, symlinkSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import path from 'node:path';
import { Advice } from '../../scripts/stack/advice.ts';
import { findProgram, unpackPackages } from '../../scripts/stack/packages.ts';
import { root } from '../../scripts/stack/paths.ts';
import { startServer } from '../../scripts/stack/server.ts';
import { outputOf } from '../../scripts/stack/tether.ts';
import { atEnd } from './at-end.ts';

const packages = [
  'wordpress',
  'wordpress-theme-twentytwentythree',
  'php8.2-cli',
  'php8.2-mysql',
  'mariadb-server-core',
] as const;

export type Software = Awaited<ReturnType<typeof findWordPress>>;

/** The machine's, or else unpacked. Throws what is missing. */
export async function findWordPress(say: (line: string) => void) {
  const php = await findProgram({ names: ['php8.2'], packages, inPackage: 'usr/bin/php8.2', version: '-v', say });
  const mariadb = await findProgram({ names: ['mariadbd'], packages, inPackage: 'usr/sbin/mariadbd', say });
  const load = 'usr/share/wordpress/wp-load.php';
  const unpacked = existsSync(`/${load}`) ? '/' : await unpackPackages(packages, { say });
  const find = (name: string) => {
    const found = [unpacked, '/'].map((folder) => path.join(folder, name)).find((file) => existsSync(file));
    if (!found) throw new Advice(`/${name} is missing: install ${packages.join(', ')}.`);
    return found;
  };
  const modules = ['mysqlnd', 'mysqli', 'ctype'].map((name) => find(`usr/lib/php/20220829/${name}.so`));
  return {
    php,
    mariadb,
    unpacked,
    /** of PHP: no settings of the machine's, and no curl, without which WordPress asks others in another way */
    flags: ['-n', '-d', 'error_log=', ...modules.flatMap((file) => ['-d', `extension=${file}`])],
    files: path.dirname(find(load)),
    messages: find('usr/share/mysql'),
  };
}

export interface WordPress {
  url: string;
  /** The folder of its plugins. */
  plugins: string;
  /** Runs code in it, and returns what that prints. */
  php(code: string, constants?: Record<string, unknown>): Promise<string>;
  /** What PHP has complained about in files with this in their path. */
  complaints(part: string): string[];
}

export const administrator = { name: 'admin', password: 'a password for a test' };

/** `extra`: more plugins, by the names that their folders get. */
export async function startWordPress(dataDir: string, software: Software, extra: string[]): Promise<WordPress> {
  const { php, flags, files } = software;
  const site = path.join(dataDir, 'site');
  cpSync(files, site, {
    recursive: true,
    dereference: true,
    filter: (file, copy) => copyMissing(software, file, copy),
  });
  const plugins = path.join(site, 'wp-content/plugins');
  for (const name of extra) {
    mkdirSync(path.join(plugins, name));
    symlinkSync(path.join(root, `test/support/wordpress/${name}.php`), path.join(plugins, name, `${name}.php`));
  }
  const log = path.join(dataDir, 'php.log');
  writeFileSync(log, '');
  writeFileSync(
    path.join(site, 'wp-config.php'),
    config(await startMariadb(path.join(dataDir, 'mariadb'), software), log),
  );
  const server = await startServer({
    name: 'PHP',
    dataDir,
    command: php.binary,
    argumentsOf: (port) => [...flags, '-S', `127.0.0.1:${port}`, '-t', site],
    tether: { env: php.env },
    urlOf: (port) => `http://localhost:${port}`,
    probe: (url) => fetch(`${url}/license.txt`),
  });
  atEnd(server.stop);
  const run: WordPress['php'] = (code, constants = {}) => {
    const all = Object.entries(constants).map(([name, value]) => `define('${name}', ${JSON.stringify(value)});`);
    const start = `$_SERVER['HTTP_HOST'] = '${new URL(server.url).host}'; $_SERVER['REQUEST_URI'] = '/'; ${all.join('')} require 'wp-load.php';`;
    return outputOf(php.binary, [...flags, '-r', start + code], { cwd: site, env: php.env });
  };
  const { name, password } = administrator;
  await run(
    `require 'wp-admin/includes/upgrade.php';
     wp_install('A shop', '${name}', 'admin@example.com', true, '', '${password}');
     switch_theme('twentytwentythree');`,
    { WP_INSTALLING: true },
  );
  return {
    url: server.url,
    plugins,
    php: run,
    complaints: (part) =>
      readFileSync(log, 'utf8')
        .split('\n')
        .filter((line) => line.includes(part)),
  };
}

/** What a link of an unpacked package leads to may be in a package that the machine has. False: it is no file to copy. */
function copyMissing({ unpacked }: Software, file: string, copy: string): boolean {
  if (existsSync(file)) return true;
  const target = path.resolve(path.dirname(file), readlinkSync(file));
  const own = path.join('/', path.relative(unpacked, target));
  if (existsSync(own)) cpSync(own, copy, { recursive: true, dereference: true });
  return false;
}

/**
 * Without tables of rights, anybody who reaches its port may do everything: it is on the loopback, and ends with the test.
 */
async function startMariadb(dataDir: string, { mariadb, messages }: Software): Promise<string> {
  mkdirSync(dataDir, { recursive: true });
  const first = path.join(dataDir, 'first.sql');
  writeFileSync(first, 'create database if not exists wordpress;\n');
  const server = await startServer({
    name: 'MariaDB',
    dataDir,
    command: mariadb.binary,
    argumentsOf: (port) => [
      '--no-defaults',
      `--datadir=${dataDir}`,
      `--lc-messages-dir=${messages}`,
      `--socket=${dataDir}/s`,
      `--pid-file=${dataDir}/pid`,
      `--init-file=${first}`,
      `--port=${port}`,
      '--bind-address=127.0.0.1',
      '--skip-grant-tables',
      '--innodb-flush-log-at-trx-commit=0',
      ...(process.getuid?.() === 0 ? ['--user=root'] : []),
    ],
    tether: { env: mariadb.env },
    urlOf: (port) => `127.0.0.1:${port}`,
    // it greets each client
    probe: async (address) => {
      const socket = connect(Number(address.split(':')[1]), '127.0.0.1');
      await once(socket, 'data').finally(() => socket.destroy());
    },
  });
  atEnd(server.stop);
  return server.url;
}

const config = (database: string, log: string) => `<?php
define('DB_NAME', 'wordpress');
define('DB_USER', 'root');
define('DB_PASSWORD', '');
define('DB_HOST', '${database}');
define('WP_HOME', 'http://' . $_SERVER['HTTP_HOST']);
define('WP_SITEURL', WP_HOME);
define('WP_DEBUG', true);
define('WP_DEBUG_DISPLAY', false);
define('WP_DEBUG_LOG', '${log}');
define('FS_METHOD', 'direct');
define('DISABLE_WP_CRON', true);
// there is no other network: it would wait for it
define('WP_HTTP_BLOCK_EXTERNAL', true);
define('WP_ACCESSIBLE_HOSTS', '127.0.0.1,localhost');
$table_prefix = 'wp_';
defined('ABSPATH') || define('ABSPATH', __DIR__ . '/');
require ABSPATH . 'wp-settings.php';
`;
