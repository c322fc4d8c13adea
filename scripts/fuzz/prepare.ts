/**
 * What a run needs to find in the service before it starts: some records, their ids, cursors that lead to the rest, a notice,
 * visitors, an erasure and webhooks.
 */
import { createHash } from 'node:crypto';
import { postRecord } from '../stack/client.ts';
import { waitUntil } from '../stack/wait.ts';
import type { Known } from './values.ts';

export const prepared = 3;
/** The fuzzer erases them again and again, and records for them. */
const visitors = ['v-1', 'v/2?#%'];

type Site = Pick<Known, 'domainId' | 'apiKey' | 'token' | 'webhooksToken'> & { baseUrl: string };

type Answer = Partial<Record<'nextCursor' | 'erasureId' | 'webhookId', string>> & {
  total?: number;
  records?: { id: string }[];
};

export async function prepare(site: Site): Promise<Known> {
  const { domainId, token, webhooksToken, apiKey } = site;
  for (let count = 0; count < prepared; count += 1) {
    const status = await record(site);
    if (status !== 202) throw new Error(`a valid record is answered ${status}`);
  }
  if (!(await waitForTotal(site, prepared))) throw new Error('records do not arrive in the log');
  const log = `/v1/consent/${domainId}/records`;
  const pages = await Promise.all([`${log}?limit=1`, '/v1/consent/org-stats?limit=1'].map((path) => get(site, path)));
  const { records = [] } = await get(site, log);
  // what the fuzzer sends most often as a document
  const hash = createHash('sha256').update('{}').digest('hex');
  await ask(site, 'PUT', `/v1/consent/${domainId}/notices/${hash}`, { 'x-api-key': apiKey }, '{}');
  const { erasureId } = await ask(site, 'DELETE', '/v1/organization/visitors/nobody', bearer(token));
  const webhook = JSON.stringify({ url: 'https://receiver.example/', types: ['visitor.erased'] });
  // many, since the fuzzer deletes them
  const webhooks = await Promise.all(
    Array.from({ length: 20 }, () => ask(site, 'POST', '/v1/organization/webhooks', bearer(webhooksToken), webhook)),
  );
  return {
    ...site,
    cursors: pages.map(({ nextCursor }) => String(nextCursor)),
    recordIds: records.map(({ id }) => id),
    notices: [hash],
    visitors,
    erasures: [String(erasureId)],
    webhooks: webhooks.map(({ webhookId }) => String(webhookId)),
  };
}

export const record = async (site: Site): Promise<number> =>
  (await postRecord(site.baseUrl, site, { decision: 'custom' })).status;

/** Whether the log comes to hold exactly so many; a record may take 30 s from its receipt to the log. */
export const waitForTotal = (site: Site, total: number): Promise<boolean> => {
  const page = `/v1/consent/${site.domainId}/records?limit=1`;
  return waitUntil(async () => (await get(site, page)).total === total, { deadlineMs: 30_000 });
};

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const get = (site: Site, path: string) => ask(site, 'GET', path, bearer(site.token));

async function ask(
  { baseUrl }: Site,
  method: string,
  path: string,
  credential: Record<string, string>,
  body: string | null = null,
): Promise<Answer> {
  const headers = { ...credential, ...(body !== null && { 'content-type': 'application/json' }) };
  const response = await fetch(baseUrl + path, { method, headers, body });
  if (!response.ok) throw new Error(`${method} ${path} is answered ${response.status}`);
  return (await response.json()) as Answer;
}
