/** The commands of docs/runbooks.md, run in their order as they are written there, with secrets that come from files. */
import { mkdirSync, mkdtempSync } from 'node:fs';
import path from 'node:path';
import { expect, inject } from 'vitest';
import { type Setting, settings } from '../../apps/settings/settings.ts';
import { findProgram } from '../../scripts/stack/packages.ts';
import { reachableFolder, removeFolder, serviceUser, writeFor } from '../../scripts/stack/service-user.ts';
import { runCommand } from '../../scripts/stack/tether.ts';
import { blocksIn, sectionOf } from './documents.ts';
import { findPostgresClients } from './postgres-clients.ts';
import { privacyKey, secretsKey } from './settings.ts';

export const page = 'docs/runbooks.md';

const shellBlocks = (markdown: string): string[] =>
  blocksIn(page, markdown).flatMap(({ language, text }) => (language === 'sh' ? [text] : []));

/** `npm run` of a checkout takes half a second longer; these are what it runs. A bare machine has stand-ins. */
const prelude = `
set -eu
npm() {
  case "$*" in
    'run migrate') node "$DIST/apps/cli/main.js" migrate ;;
    'run -s assent -- '*) shift 4; node "$DIST/apps/cli/main.js" "$@" ;;
    *) echo "not known here: npm $*" >&2; return 1 ;;
  esac
}
command -v openssl >/dev/null || openssl() { node -p "require('crypto').randomBytes($3).toString('hex')"; }
command -v pg_archivecleanup >/dev/null || pg_archivecleanup() { test -n "$2"; }
${shellBlocks(sectionOf(page, '## Before you begin')).join('')}
set -v
`;

/** The environment with a file for each secret, in a folder that Postgres' user may enter. */
function withSecretFiles(env: Record<string, string>, folder: string): Record<string, string> {
  const known: Record<string, Setting> = settings;
  return Object.fromEntries(
    Object.entries(env).map(([name, value]) => {
      if (!known[name]?.secret || value === '') return [name, value];
      const file = path.join(folder, name);
      writeFor(serviceUser(), file, `${value}\n`);
      return [`${name}_FILE`, file];
    }),
  );
}

/** By which names `psql` and the like know the addresses. */
const services = { assent: 'DATABASE_URL', admin: 'ADMIN_URL', restored: 'RESTORED_URL', new: 'NEW_DATABASE_URL' };

/** A service file of libpq with those that the environment has. */
export function serviceFile(env: Record<string, string>): string {
  const sections = Object.entries(services).map(([name, variable]) => {
    if (!env[variable]) return '';
    const { hostname, port, username, password, pathname } = new URL(env[variable]);
    const lines = { host: hostname, port, user: username, password, dbname: pathname.slice(1) };
    return `[${name}]\n${Object.entries(lines)
      .map(([key, value]) => `${key}=${value}\n`)
      .join('')}`;
  });
  return sections.join('');
}

const findRedisCli = () =>
  findProgram({
    names: ['redis-cli'],
    packages: ['redis-server'],
    inPackage: 'usr/bin/redis-cli',
    advice: 'redis-cli is missing: install redis-tools.',
  });

interface StepOptions {
  /** what its `…` stand for, such as `{ 'dom_…': domainId }`, and its folders */
  values?: Record<string, string>;
  /** as whom Postgres runs */
  asPostgres?: boolean;
  cwd?: string;
}

export interface Runbook {
  /** Runs the next block, which has to be the one with that text; returns what it printed. */
  step(text: string, env: Record<string, string>, options?: StepOptions): Promise<string>;
  /** Runs the block with that text once more. */
  again(text: string, env: Record<string, string>, options?: StepOptions): Promise<string>;
  /** Runs commands that are in no such block. */
  run(commands: string, env: Record<string, string>, options?: StepOptions): Promise<string>;
  /** blocks that were not run yet */
  left(): string[];
}

/** Of the sections with these headings. */
export async function openRunbook(...headings: string[]): Promise<Runbook> {
  const blocks = shellBlocks(headings.map((heading) => sectionOf(page, heading)).join('\n'));
  const [clients = '', redisCli] = await Promise.all([findPostgresClients(), findRedisCli()]);
  const folders = [clients, path.dirname(redisCli.binary), process.env.PATH];
  const backup = mkdtempSync(path.join(inject('folder'), 'backup-'));
  mkdirSync(path.join(backup, 'assent'));
  let next = 0;
  const run = async (
    block: string,
    env: Record<string, string>,
    { values = {}, asPostgres = false, cwd = inject('folder') }: StepOptions = {},
  ) => {
    let text = block;
    for (const [name, value] of Object.entries({ '/backup/': `${backup}/`, ...values }))
      text = text.replaceAll(name, value);
    expect(text.replaceAll(/#.*$/gm, '')).not.toContain('…');
    const secrets = reachableFolder(mkdtempSync(path.join(inject('folder'), 'secrets-')));
    const PGSERVICEFILE = path.join(secrets, 'pg_service.conf');
    writeFor(serviceUser(), PGSERVICEFILE, serviceFile(env));
    const { code, output } = await runCommand('/bin/sh', ['-c', prelude + text], {
      cwd,
      ...(asPostgres && serviceUser()),
      env: {
        LD_LIBRARY_PATH: redisCli.env.LD_LIBRARY_PATH,
        ...withSecretFiles({ PRIVACY_KEY: privacyKey, SECRETS_KEY: secretsKey, ...env }, secrets),
        DIST: inject('dist'),
        PGSERVICEFILE,
        PATH: folders.join(path.delimiter),
      },
    });
    removeFolder(secrets);
    expect(code, output).toBe(0);
    return output;
  };
  return {
    left: () => blocks.slice(next),
    run,
    async step(wanted, env, options) {
      const block = blocks[next] ?? '';
      expect(block).toContain(wanted);
      next += 1;
      return run(block, env, options);
    },
    async again(wanted, env, options) {
      const found = blocks.slice(0, next).filter((block) => block.includes(wanted));
      expect(found).toHaveLength(1);
      return run(found.join(''), env, options);
    },
  };
}
