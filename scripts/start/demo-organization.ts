/** The organization, domain and key of the demo, created with the command line of the build. */
import path from 'node:path';
import { z } from 'zod';
import { Advice, describe } from '../stack/advice.ts';
import { runCli } from '../stack/assent-process.ts';
import { root } from '../stack/paths.ts';
import { succeeds } from '../stack/wait.ts';
import { readPrivate, writePrivate } from './settings.ts';

/** Runs commands of the build. A failure is one line, and becomes an Advice. */
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
const listedKeys = z.object({ keys: z.array(z.object({ prefix: z.string(), revokedAt: z.string().nullable() })) });
const file = 'demo-setup.json';

export type DemoSetup = z.infer<typeof setupSchema>;

/** Creates the demo organization once, with a domain and a key. A revoked key or an archived domain is replaced. */
export async function ensureDemo({ run, ask }: ReturnType<typeof createCli>): Promise<DemoSetup> {
  const isActive = async ({ domainId, apiKey }: DemoSetup) => {
    const { keys } = listedKeys.parse(JSON.parse(await run('key', 'list', '--domain', domainId, '--json')));
    return keys.some(({ prefix, revokedAt }) => revokedAt === null && apiKey.startsWith(prefix));
  };
  const stored = setupSchema.safeParse(JSON.parse(readPrivate(file) ?? 'null'));
  // another or an emptied database lacks what an earlier start created
  const before =
    stored.success && (await succeeds(run('org', 'show', stored.data.organizationId))) ? stored.data : undefined;
  if (before && (await isActive(before).catch(() => false))) return before;
  const createOrganization = async () => {
    await run('plan', 'set', 'demo', '--consent-log', 'true', '--monthly-limit', 'none');
    return ask('organizationId', 'org', 'create', 'Demo organization', '--plan', 'demo');
  };
  const organizationId = before?.organizationId ?? (await createOrganization());
  const createDomain = () => ask('domainId', 'domain', 'create', organizationId, 'demo.example');
  const createKey = (domainId: string) => ask('apiKey', 'key', 'create', domainId);
  // an archived domain gets no key
  const renewed = before && (await createKey(before.domainId).catch(() => undefined));
  const domainId = before && renewed ? before.domainId : await createDomain();
  const setup = { organizationId, domainId, apiKey: renewed ?? (await createKey(domainId)) };
  writePrivate(file, `${JSON.stringify(setup, null, 2)}\n`);
  return setup;
}
