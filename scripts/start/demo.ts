/** The demo organization: made once, with a domain and a key, so that there is something to record to. */
import { z } from 'zod';
import type { Cli } from './cli.ts';
import { readPrivate, writePrivate } from './files.ts';

const setupSchema = z.object({ organizationId: z.string(), domainId: z.string(), apiKey: z.string() });

export type DemoSetup = z.infer<typeof setupSchema>;

const FILE = 'demo-setup.json';

export async function ensureDemo(cli: Cli): Promise<DemoSetup> {
  const kept = readPrivate(FILE);
  if (kept !== undefined) {
    const setup = setupSchema.safeParse(JSON.parse(kept));
    if (setup.success && (await isKnown(cli, setup.data.organizationId))) return setup.data;
  }
  const setup = await createDemo(cli);
  writePrivate(FILE, `${JSON.stringify(setup, null, 2)}\n`);
  return setup;
}

/** Another DATABASE_URL, or an emptied database, does not know what an earlier start made. */
async function isKnown(cli: Cli, organizationId: string): Promise<boolean> {
  try {
    await cli.run('org', 'show', organizationId, '--json');
    return true;
  } catch {
    return false;
  }
}

async function createDemo(cli: Cli): Promise<DemoSetup> {
  await cli.run('plan', 'set', 'demo', '--consent-log', 'true', '--monthly-limit', 'none');
  const organization = z.object({ organizationId: z.string() });
  const { organizationId } = await cli.json(organization, 'org', 'create', 'Demo organization', '--plan', 'demo');
  const domain = z.object({ domainId: z.string() });
  const { domainId } = await cli.json(domain, 'domain', 'create', organizationId, 'demo.example');
  const { apiKey } = await cli.json(z.object({ apiKey: z.string() }), 'key', 'create', domainId);
  return { organizationId, domainId, apiKey };
}

export async function issueToken(cli: Cli, organizationId: string): Promise<string> {
  const { token } = await cli.json(z.object({ token: z.string() }), 'token', 'issue', organizationId, '--ttl', '7d');
  return token;
}
