/** Organizations, domains and keys: some by the command line, thousands without it; and what is sent with them. */
import jsonwebtoken from 'jsonwebtoken';
import type { Database } from '#libs/base/db/database';
import { hashApiKey, makeApiKey, makeId } from '#libs/tenants/tenants';

export interface Site {
  organizationId: string;
  domainId: string;
  apiKey: string;
}

/** An organization with so many domains. `cli`: runs a command, and resolves to its output. */
export async function makeSites(cli: (...args: string[]) => Promise<string>, count: number): Promise<Site[]> {
  const make = async (...args: string[]): Promise<Site> => JSON.parse(await cli('--json', ...args));
  const { organizationId } = await make('org', 'create', 'An organization');
  const makeSite = async (_: unknown, index: number): Promise<Site> => {
    const { domainId } = await make('domain', 'create', organizationId, `shop-${index}.example`);
    const { apiKey } = await make('key', 'create', domainId);
    return { organizationId, domainId, apiKey };
  };
  return Promise.all(Array.from({ length: count }, makeSite));
}

/** Of these organizations in turns. Returns their ids. */
export async function addDomains(db: Database, organizationIds: string[], count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, () => makeId('dom'));
  const organizations = ids.map((_, n) => organizationIds[n % organizationIds.length] ?? '');
  await db.run(
    (sql) => sql`
      insert into domains (id, organization_id, name)
      select id, organization, id from unnest(${ids}::text[], ${organizations}::text[]) as made (id, organization)`,
  );
  // otherwise autovacuum does it, at a moment of its own for each build
  await db.run((sql) => sql`analyze domains`);
  return ids;
}

/** One for each of an organization's domains. */
export async function addKeys(db: Database, organizationId: string, domainIds: string[]): Promise<Site[]> {
  const sites = domainIds.map((domainId) => ({ organizationId, domainId, apiKey: makeApiKey() }));
  await db.run(
    (sql) => sql`
      insert into api_keys (hash, domain_id, prefix)
      select decode(hash, 'hex'), domain_id, left(key, 11)
      from unnest(
        ${sites.map(({ apiKey }) => hashApiKey(apiKey))}::text[], ${domainIds}::text[],
        ${sites.map(({ apiKey }) => apiKey)}::text[]
      ) as made (hash, domain_id, key)`,
  );
  return sites;
}

/** Also good for an API whose clock is years ahead. */
export const signToken = (organizationId: string, secret: string, scope = 'read'): string =>
  jsonwebtoken.sign({ sub: 'script', org: organizationId, scope }, secret, { expiresIn: '10y', noTimestamp: true });

export const postRecord = (
  baseUrl: string,
  { domainId, apiKey }: Omit<Site, 'organizationId'>,
  body: object,
  signal: AbortSignal | null = null,
  headers: Record<string, string> = {},
): Promise<Response> =>
  fetch(`${baseUrl}/v1/consent/${domainId}/record`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': apiKey, ...headers },
    body: JSON.stringify(body),
    signal,
  });
