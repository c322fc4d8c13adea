/** The rooms of the architecture: biome.json, run on scratch files that lie where the rules look. */
import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';

const checkout = path.resolve(import.meta.dirname, '../..');
const biome = path.join(checkout, 'node_modules/.bin/biome');
const report = z.object({
  diagnostics: z.array(
    z.object({
      category: z.string(),
      severity: z.string(),
      location: z.object({ path: z.string(), start: z.object({ line: z.number() }) }),
    }),
  ),
});

/** A file of each room, by what the rooms below call it. Rooms of apps are paths. */
const libs = {
  contract: 'contract/terms',
  config: 'config/log',
  runtime: 'runtime/batcher',
  redis: 'runtime/redis',
  store: 'store/sql',
  queue: 'queue/names',
  counters: 'counters/read',
  telemetry: 'telemetry/log',
};
const capabilities = ['record', 'stats', 'log', 'manage', 'notices', 'privacy', 'webhooks', 'pages'];
const apps = [
  ...['app.ts', 'access/bearer.ts', 'http/guard.ts', 'process/open.ts'].map((file) => `api/${file}`),
  ...capabilities.map((room) => `api/${room}/one.ts`),
  ...['main.ts', 'consume.ts', 'heal/one.ts', 'keep/one.ts', 'derive/close.ts', 'deliver/one.ts'].map(
    (file) => `worker/${file}`,
  ),
  ...['main.tsx', 'app.tsx', 'format.ts', 'data/api.ts', 'parts/header.tsx', 'charts/scale.ts'].map(
    (file) => `dashboard/${file}`,
  ),
  ...['pages/home/one.tsx', 'pages/log/table.tsx', 'proof/one.ts', 'provider/one.ts'].map(
    (file) => `dashboard/${file}`,
  ),
  ...['cli/session.ts', 'widget/main.ts', 'widget/view/view.ts', 'verify/main.ts'],
];
const packages = ['koa', '@koa/router', 'ioredis', 'bullmq', 'postgres', 'zod', 'node:crypto', 'preact'];
const more = ['@noble/ed25519', 'oauth4webapi'];

const every = [...Object.keys(libs), ...packages, ...more].join(' ');
const without = (...names: string[]) =>
  every
    .split(' ')
    .filter((name) => !names.includes(name))
    .join(' ');
const ofPages = 'dashboard/format dashboard/data dashboard/proof dashboard/provider';
/** What a room may import beside its own files, of all that is named above; nothing else of it. */
const rooms: Record<string, string> = {
  ...Object.fromEntries(
    ['contract', 'config', 'runtime', 'imports'].map((room) => [
      `libs/${room}`,
      without('config', 'runtime', 'redis', 'store', 'queue', 'counters', 'telemetry'),
    ]),
  ),
  'libs/merkle': ['contract', ...packages, ...more].filter((name) => name !== 'node:crypto').join(' '),
  'libs/queue': without('config', 'store', 'counters', 'telemetry', 'postgres', 'koa'),
  'libs/store/records': without('config', 'redis', 'queue', 'counters', 'telemetry', 'ioredis', 'bullmq', 'koa'),
  'libs/counters': without('config', 'store', 'queue', 'telemetry', 'postgres', 'bullmq', 'koa'),
  'libs/witness': without('config', 'store', 'queue', 'counters', 'telemetry', 'postgres', 'bullmq', 'koa'),
  'libs/telemetry': without(
    ...['config', 'redis', 'store', 'queue', 'counters', 'postgres', 'ioredis', 'bullmq', 'koa'],
  ),
  'apps/api': `${every} api`,
  'apps/api/http': `${every} api/http`,
  'apps/api/access': `${every} api/http api/access`,
  ...Object.fromEntries(
    capabilities.map((room) => [`apps/api/${room}`, `${every} api/http api/access api/${room}`] as const),
  ),
  'apps/worker': `${without('koa', '@koa/router')} worker`,
  ...Object.fromEntries(
    ['heal', 'keep', 'deliver', 'derive/seal'].map((room) => [
      `apps/worker/${room}`,
      `${without('koa', '@koa/router')} worker/${room.replace('/seal', '')}`,
    ]),
  ),
  'apps/cli': `${without('koa', '@koa/router')} cli`,
  'apps/widget': 'contract widget',
  'apps/widget/view': 'contract widget',
  'apps/verify': 'contract @noble/ed25519 verify',
  'apps/dashboard': 'contract preact dashboard',
  'apps/dashboard/data': `contract preact ${ofPages}`,
  'apps/dashboard/charts': `contract preact ${ofPages} dashboard/charts`,
  'apps/dashboard/parts': `contract preact ${ofPages} dashboard/charts dashboard/parts`,
  'apps/dashboard/pages/home': `contract preact ${ofPages} dashboard/charts dashboard/parts dashboard/pages/home`,
  'apps/dashboard/proof': 'contract dashboard/proof',
  'apps/dashboard/provider': 'contract oauth4webapi dashboard/data dashboard/provider',
};

/** All that a room is tried with: what it is called, and how it is imported there. */
function importsIn(room: string): [name: string, from: string][] {
  const to = (file: string) => path.relative(room, file).replace(/^(?!\.)/, './');
  return [
    ['own', './own.ts'],
    ...Object.entries(libs).map(([name, file]): [string, string] => [name, `#libs/${file}`]),
    ...apps.map((file): [string, string] => [file, to(`apps/${file}`)]),
    ...[...packages, ...more].map((name): [string, string] => [name, name]),
    // the tree is for those who prove and verify; and no room of libs is reached past its name
    ['tree', '#libs/merkle/facts'],
    ...['store', 'queue', 'counters', 'telemetry'].flatMap((name): [string, string][] =>
      room.startsWith('libs/') && !room.startsWith(`libs/${name}`) ? [[`past ${name}`, to(`libs/${name}/one.ts`)]] : [],
    ),
  ];
}
const maySeeTree = /^(libs\/(?!witness|merkle)|apps\/(api|worker|cli|verify|dashboard\/proof))/;
const isAllowed = (room: string, name: string): boolean =>
  name === 'own' ||
  (name === 'tree'
    ? maySeeTree.test(room)
    : (rooms[room] ?? '')
        .split(' ')
        .some((may) => name === may || name.startsWith(`${may}/`) || name.startsWith(`${may}.`)));

/** Rules that hold everywhere, each with a line that breaks it. */
const everywhere: Record<string, string> = {
  'lint/correctness/noUnusedImports': "import { z } from 'zod';",
  'lint/correctness/noUnusedVariables': 'const unused = 1;',
  'lint/correctness/noUndeclaredDependencies': "import * as lodash from 'lodash'; export { lodash };",
  'lint/style/useImportType': "import { Logger } from 'pino'; export type Log = Logger;",
  'lint/style/useNodejsImportProtocol': "import * as fs from 'fs'; export { fs };",
  'lint/style/noNonNullAssertion': 'export const first = (list: string[]) => list[0]!.length;',
  'lint/style/useConst': 'export function f() { let x = 1; return x; }',
  'lint/suspicious/noExplicitAny': 'export const f = (x: any) => x;',
  'lint/suspicious/noImportCycles': "import * as other from './other.ts'; export { other };",
};

describe('biome.json', () => {
  let folder: string;
  let found: { rule: string; file: string; line: number }[];

  beforeAll(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'assent-rules-'));
    const write = (file: string, lines: string[]) => {
      mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
      writeFileSync(path.join(folder, file), `${lines.join('\n')}\n`);
    };
    for (const file of ['biome.json', 'package.json']) copyFileSync(path.join(checkout, file), path.join(folder, file));
    for (const room of Object.keys(rooms)) {
      const lines = importsIn(room).map(([, from], at) => `import * as m${at} from '${from}'; export { m${at} };`);
      write(`${room}/scratch.ts`, lines);
    }
    for (const [rule, line] of Object.entries(everywhere)) write(`scripts/${path.basename(rule)}.ts`, [line]);
    write('scripts/other.ts', ["import * as back from './noImportCycles.ts'; export { back };"]);
    const args = ['lint', '--vcs-enabled=false', '--reporter=json', '--max-diagnostics=none', '.'];
    // it ends with an error, since there is much to find
    const { stdout } = await promisify(execFile)(biome, args, { cwd: folder }).catch(
      (error: { stdout: string }) => error,
    );
    found = report
      .parse(JSON.parse(stdout))
      .diagnostics.filter(({ severity }) => severity === 'error')
      .map(({ category, location }) => ({ rule: category, file: location.path, line: location.start.line }));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it.each(Object.keys(rooms))('%s imports what it may, and nothing else', (room) => {
    const lines = found
      .filter(({ file, rule }) => file === `${room}/scratch.ts` && rule.endsWith('noRestrictedImports'))
      .map(({ line }) => line);
    const refused = importsIn(room).filter((_, at) => lines.includes(at + 1));
    expect(refused).toEqual(importsIn(room).filter(([name]) => !isAllowed(room, name)));
  });

  it.each(Object.keys(everywhere))('fails on what breaks %s', (rule) => {
    expect(found).toContainEqual({ rule, file: `scripts/${path.basename(rule)}.ts`, line: 1 });
  });
});
