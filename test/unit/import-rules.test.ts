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

const pure = {
  allowed: ['node:crypto', 'zod', '#libs/contract/terms'],
  forbidden: [
    '#libs/store/sql',
    '#libs/queue/names',
    '#libs/counters/read',
    '#libs/telemetry/log',
    '#libs/runtime/batcher',
    '../store/sql.ts',
    '../queue/names.ts',
    '../../apps/api/app.ts',
  ],
};
const otherApps = [
  '../../worker/consume.ts',
  '../../cli/session.ts',
  '../../dashboard/main.ts',
  '../../verify/main.ts',
  '../../widget/main.ts',
];
/** What a capability of the API may and may not import. */
const capability = (own: string) => ({
  allowed: ['#libs/store/sql', '#libs/contract/problem', '../access/bearer.ts', '../http/guard.ts', './own.ts', 'koa'],
  forbidden: [
    ...otherApps,
    '../app.ts',
    ...['record', 'stats', 'log', 'manage', 'notices', 'privacy', 'webhooks', 'pages', 'process']
      .filter((room) => room !== own)
      .map((room) => `../${room}/scratch.ts`),
  ],
});
/** Where, and what may and may not be imported there. */
const rooms: Record<string, { allowed: string[]; forbidden: string[] }> = {
  'libs/contract/scratch.ts': { ...pure, allowed: [...pure.allowed, './terms.ts'] },
  'libs/config/scratch.ts': pure,
  'libs/imports/scratch.ts': pure,
  'libs/runtime/scratch.ts': { ...pure, allowed: [...pure.allowed, './batcher.ts', 'ioredis'] },
  'libs/merkle/scratch.ts': {
    allowed: ['zod', '#libs/contract/terms', '../contract/terms.ts', './bytes.ts'],
    forbidden: [...pure.forbidden, '#libs/config/log', '#libs/runtime/within', 'node:crypto', 'node:fs/promises'],
  },
  'libs/queue/scratch.ts': {
    allowed: ['#libs/contract/job', '#libs/runtime/redis', '#libs/runtime/within', './names.ts', 'bullmq', 'ioredis'],
    forbidden: [
      '#libs/store/sql',
      '#libs/counters/read',
      '#libs/telemetry/log',
      '../store/sql.ts',
      '../counters/read.ts',
      '../telemetry/log.ts',
      '../../apps/worker/consume.ts',
      'postgres',
      'koa',
    ],
  },
  'libs/store/records/scratch.ts': {
    allowed: ['#libs/contract/record', '#libs/runtime/batcher', '../sql.ts', '../counters.ts', 'postgres', 'lru-cache'],
    forbidden: [
      '#libs/queue/names',
      '#libs/counters/keys',
      '#libs/telemetry/metrics',
      '#libs/runtime/redis',
      '../../queue/names.ts',
      '../../counters/keys.ts',
      '../../../apps/api/app.ts',
      'ioredis',
      'bullmq',
      'koa',
    ],
  },
  'libs/counters/scratch.ts': {
    allowed: ['#libs/contract/terms', '#libs/runtime/redis', '#libs/runtime/group-by', './keys.ts', 'ioredis'],
    forbidden: [
      '#libs/queue/names',
      '#libs/store/counters',
      '#libs/telemetry/metrics',
      '../store/counters.ts',
      '../queue/names.ts',
      '../../apps/worker/heal/reconcile.ts',
      'postgres',
      'bullmq',
      'koa',
    ],
  },
  'libs/witness/scratch.ts': {
    allowed: ['#libs/contract/terms', '#libs/runtime/redis', './witness.ts', 'ioredis'],
    forbidden: [
      '#libs/store/sql',
      '#libs/counters/read',
      '../store/sql.ts',
      '../../apps/cli/main.ts',
      'postgres',
      'bullmq',
    ],
  },
  'libs/telemetry/scratch.ts': {
    allowed: ['pino', 'prom-client', 'node:http', './log.ts'],
    forbidden: [
      '#libs/queue/names',
      '#libs/store/sql',
      '#libs/counters/read',
      '#libs/runtime/redis',
      '../store/sql.ts',
      '../queue/names.ts',
      '../../apps/api/app.ts',
    ],
  },
  'apps/api/scratch.ts': {
    allowed: ['#libs/store/records/persist', './record/route.ts', './access/cors.ts', 'koa', '@koa/router'],
    forbidden: ['../worker/consume.ts', '../cli/session.ts', '../dashboard/main.ts', '../widget/main.ts'],
  },
  ...Object.fromEntries(
    ['record', 'stats', 'log', 'manage', 'notices', 'privacy', 'pages'].map((own) => [
      `apps/api/${own}/scratch.ts`,
      capability(own),
    ]),
  ),
  'apps/api/access/scratch.ts': {
    allowed: ['#libs/store/tenants/tenants', '../http/context.ts', './limiter.ts', 'jsonwebtoken'],
    forbidden: [...otherApps, '../app.ts', '../record/route.ts', '../stats/org-stats.ts', '../process/open.ts'],
  },
  'apps/api/http/scratch.ts': {
    allowed: ['#libs/contract/problem', '#libs/store/errors', './context.ts', 'koa'],
    forbidden: [...otherApps, '../app.ts', '../access/bearer.ts', '../record/route.ts', '../log/records.ts'],
  },
  'apps/worker/scratch.ts': {
    allowed: ['#libs/store/records/persist', '#libs/queue/names', './heal/healing.ts', 'bullmq'],
    forbidden: ['../api/app.ts', '../cli/session.ts', '../dashboard/main.ts', 'koa', 'koa-helmet', '@koa/router'],
  },
  'apps/worker/heal/scratch.ts': {
    allowed: ['#libs/counters/fill', './organizations.ts'],
    forbidden: ['../keep/months.ts', '../derive/deriving.ts', '../consume.ts', '../main.ts', '../../api/app.ts', 'koa'],
  },
  'apps/worker/deliver/scratch.ts': {
    allowed: ['#libs/store/webhooks/lanes', './send.ts'],
    forbidden: ['../heal/healing.ts', '../keep/months.ts', '../consume.ts', '../main.ts', '../../api/app.ts', 'koa'],
  },
  'apps/worker/keep/scratch.ts': {
    allowed: ['#libs/store/records/months', './months.ts', 'bullmq'],
    forbidden: [
      '../heal/healing.ts',
      '../derive/deriving.ts',
      '../consume.ts',
      '../main.ts',
      '../../api/app.ts',
      'koa',
    ],
  },
  'apps/worker/derive/seal/scratch.ts': {
    allowed: ['#libs/merkle/entry', '#libs/witness/witness', '#libs/store/logs/runs', '../close.ts', './grow.ts'],
    forbidden: ['../../heal/healing.ts', '../../keep/months.ts', '../../consume.ts', '../../../api/app.ts', 'koa'],
  },
  'apps/widget/scratch.ts': {
    allowed: ['#libs/contract/terms', './uuid.ts', './view/view.ts'],
    forbidden: [
      '#libs/merkle/tlog-proof',
      '@noble/ed25519',
      '../api/app.ts',
      '../cli/main.ts',
      '#libs/store/records/persist',
      '../../libs/runtime/redis.ts',
      'node:path',
      'koa',
      'zod',
    ],
  },
  'apps/widget/view/scratch.ts': {
    allowed: ['../consent.ts', './element.ts', './widget.css?inline'],
    forbidden: ['../../worker/consume.ts', '@koa/router'],
  },
  'apps/verify/scratch.ts': {
    allowed: ['#libs/contract/terms', '#libs/merkle/facts', '@noble/hashes/sha2.js', '@noble/ed25519', './page.ts'],
    forbidden: [
      '../api/app.ts',
      '../dashboard/format.ts',
      '../widget/uuid.ts',
      '#libs/store/sql',
      '../../libs/merkle/facts.ts',
      'node:crypto',
      'preact',
      'zod',
    ],
  },
  'apps/dashboard/scratch.ts': {
    allowed: [
      '#libs/contract/responses',
      '#libs/contract/calendar',
      'preact',
      'preact/hooks',
      './data/api.ts',
      './pages/log/log.tsx',
      './parts/header.tsx',
      './styles/base.css',
    ],
    forbidden: [
      '../api/app.ts',
      '../widget/main.ts',
      '../cli/main.ts',
      '#libs/store/records/persist',
      '../../libs/runtime/redis.ts',
      'node:path',
      'koa',
      'zod',
    ],
  },
  'apps/dashboard/proof/scratch.ts': {
    allowed: ['#libs/contract/responses', '#libs/merkle/bundle', './verify-proof.ts'],
    forbidden: [
      '../data/api.ts',
      '../parts/header.tsx',
      '#libs/store/sql',
      '../../api/app.ts',
      'preact',
      '@noble/ed25519',
      'koa',
    ],
  },
  'apps/dashboard/provider/scratch.ts': {
    allowed: ['#libs/contract/sign-in', '../data/provider-session.ts', 'oauth4webapi'],
    forbidden: ['../parts/header.tsx', '../pages/log/log.tsx', '#libs/store/sql', '../../api/app.ts', 'preact', 'koa'],
  },
  'apps/dashboard/pages/home/scratch.ts': {
    allowed: [
      '#libs/contract/responses',
      'preact',
      './home.css',
      './overview.tsx',
      '../../charts/stacked-chart.tsx',
      '../../data/api.ts',
      '../../format.ts',
      '../../parts/figure.tsx',
    ],
    forbidden: [
      '../log/table.tsx',
      '../log/log.css',
      '../domain/statistics.tsx',
      '../new-page/part.tsx',
      '../shared.tsx',
      '../../pages/log/table.tsx',
      '../../app.tsx',
      '../../main.tsx',
      '../../../worker/consume.ts',
      '../../../widget/uuid.ts',
      '#libs/store/persist',
      '@koa/router',
    ],
  },
  'apps/dashboard/parts/scratch.ts': {
    allowed: ['./figure.tsx', './figure.css', '../charts/swatch.tsx', '../data/api.ts', '../format.ts', 'preact'],
    forbidden: ['../pages/log/table.tsx', '../app.tsx', '../../worker/consume.ts', '#libs/store/persist', 'koa'],
  },
  'apps/dashboard/charts/scratch.ts': {
    allowed: ['./scale.ts', './chart.css', '../data/decisions.ts', '../format.ts', 'preact'],
    forbidden: ['../pages/log/log.tsx', '../parts/figure.tsx', '../app.tsx', '../../api/app.ts', '#libs/store/sql'],
  },
  'apps/dashboard/data/scratch.ts': {
    allowed: ['./api.ts', '#libs/contract/calendar', 'preact/hooks'],
    forbidden: [
      '../pages/log/log.tsx',
      '../parts/figure.tsx',
      '../charts/scale.ts',
      '../app.tsx',
      '../../api/app.ts',
      '#libs/store/sql',
      'koa',
    ],
  },
  'apps/cli/scratch.ts': {
    allowed: ['#libs/store/tenants/administration', './session.ts', 'commander'],
    forbidden: ['../api/record/recorder.ts', '../worker/consume.ts', '../widget/main.ts', 'koa', '@koa/router'],
  },
};

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
    for (const [file, { allowed, forbidden }] of Object.entries(rooms))
      write(
        file,
        [...allowed, ...forbidden].map((from, index) => `import * as m${index} from '${from}'; export { m${index} };`),
      );
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

  const restricted = (file: string) =>
    new Set(
      found.filter((one) => one.file === file && one.rule.endsWith('noRestrictedImports')).map(({ line }) => line),
    );

  it.each(Object.entries(rooms))('%s imports what it may', (file, { allowed }) => {
    const lines = restricted(file);
    expect(allowed.filter((_, index) => lines.has(index + 1))).toEqual([]);
  });

  it.each(Object.entries(rooms))('%s cannot import what it may not', (file, { allowed, forbidden }) => {
    const lines = restricted(file);
    expect(forbidden.filter((_, index) => !lines.has(allowed.length + index + 1))).toEqual([]);
  });

  it.each(Object.keys(everywhere))('fails on what breaks %s', (rule) => {
    expect(found).toContainEqual({ rule, file: `scripts/${path.basename(rule)}.ts`, line: 1 });
  });
});
