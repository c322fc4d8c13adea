/** The commands of docs/runbooks.md, run in their order as they are written there. */
import path from 'node:path';
import { expect, inject } from 'vitest';
import { runCommand } from '../../scripts/stack/command.ts';
import { findProgram } from '../../scripts/stack/packages.ts';
import { findPostgresClients } from '../../scripts/stack/postgres-clients.ts';
import { serviceUser } from '../../scripts/stack/service-user.ts';
import { blocksIn, sectionOf } from './documents.ts';
import { privacyKey, secretsKey } from './settings.ts';

export const page = 'docs/runbooks.md';

/** `npm run` of a checkout takes half a second longer; these are what it runs. */
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
set -v
`;

const findRedisCli = () =>
  findProgram({
    names: ['redis-cli'],
    packages: ['redis-server'],
    inPackage: 'usr/bin/redis-cli',
    advice: 'redis-cli is missing: install redis-tools.',
  });

interface StepOptions {
  /** what its `…` stand for, such as `{ 'dom_…': domainId }` */
  values?: Record<string, string>;
  /** as whom Postgres runs */
  asPostgres?: boolean;
  cwd?: string;
}

export interface Runbook {
  /** Runs the next block, which has to be the one with that text; returns what it printed. */
  step(text: string, env: Record<string, string>, options?: StepOptions): Promise<string>;
  /** blocks that were not run yet */
  left(): string[];
}

/** Of the sections with these headings. */
export async function openRunbook(...headings: string[]): Promise<Runbook> {
  const sections = headings.map((heading) => sectionOf(page, heading)).join('\n');
  const blocks = blocksIn(page, sections).filter(({ language }) => language === 'sh');
  const [clients = '', redisCli] = await Promise.all([findPostgresClients(), findRedisCli()]);
  const folders = [clients, path.dirname(redisCli.binary), process.env.PATH];
  const user = serviceUser();
  let next = 0;
  return {
    left: () => blocks.slice(next).map(({ text }) => text),
    async step(wanted, env, { values = {}, asPostgres = false, cwd = inject('folder') } = {}) {
      let text = blocks[next]?.text ?? '';
      expect(text).toContain(wanted);
      next += 1;
      for (const [name, value] of Object.entries(values)) text = text.replaceAll(name, value);
      expect(text.replaceAll(/#.*$/gm, '')).not.toContain('…');
      const { code, output } = await runCommand('/bin/sh', ['-c', prelude + text], {
        cwd,
        ...(asPostgres && { uid: user?.uid, gid: user?.gid }),
        env: {
          LD_LIBRARY_PATH: redisCli.env.LD_LIBRARY_PATH,
          PRIVACY_KEY: privacyKey,
          SECRETS_KEY: secretsKey,
          ...env,
          DIST: inject('dist'),
          PATH: folders.join(path.delimiter),
        },
      });
      expect(code, output).toBe(0);
      return output;
    },
  };
}
