/** The demo organization: made once, with a domain and a key, so that there is something to record to. */
import path from 'node:path';
import { z } from 'zod';
import { Advice, describe } from '../stack/advice.ts';
import { runCli } from '../stack/assent-process.ts';
import { root } from '../stack/paths.ts';
import { succeeds } from '../stack/wait.ts';
import { readPrivate, writePrivate } from './settings.ts';

type Cli = ReturnType<typeof createCli>;

/** The built command line; a failure there is one line, and an Advice here. */
export function createCli(env: NodeJS.ProcessEnv, signal: AbortSignal) {
  const run = (...args: string[]): Promise<string> =>
    runCli(path.join(root, 'dist'), args, { cwd: root, env, signal }).catch((error) => {
      throw new Advice(`assent ${args.join(' ')}: ${describe(error)}`);
    });
  const ask = async (field: string, ...args: string[]): Promise<string> => {
    const fields: Record<string, unknown> = JSON.parse(await run(...args, '--json'));
    return z.string().parse(fields[field]);
  };
  return { run, ask };
}

const setupSchema = z.object({ organizationId: z.string(), domainId: z.string(), apiKey: z.string() });
const file = 'demo-setup.json';

export type DemoSetup = z.infer<typeof setupSchema>;

export async function ensureDemo({ run, ask }: Cli): Promise<DemoSetup> {
  const kept = setupSchema.safeParse(JSON.parse(readPrivate(file) ?? 'null'));
  if (kept.success && (await isKnown(run, kept.data))) return kept.data;
  await run('plan', 'set', 'demo', '--consent-log', 'true', '--monthly-limit', 'none');
  const organizationId = await ask('organizationId', 'org', 'create', 'Demo organization', '--plan', 'demo');
  const domainId = await ask('domainId', 'domain', 'create', organizationId, 'demo.example');
  const apiKey = await ask('apiKey', 'key', 'create', domainId);
  const setup = { organizationId, domainId, apiKey };
  writePrivate(file, `${JSON.stringify(setup, null, 2)}\n`);
  return setup;
}

/** Another DATABASE_URL, or an emptied database, does not know what an earlier start made. */
const isKnown = (run: Cli['run'], { organizationId }: DemoSetup): Promise<boolean> =>
  succeeds(run('org', 'show', organizationId));
