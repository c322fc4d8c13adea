/**
 * What a run needs to find in the service before it starts: some records, their ids, cursors that lead to the rest, a notice,
 * visitors, an erasure and webhooks.
 */
import { createHash } from 'node:crypto';
import { postRecord, read } from '../stack/client.ts';
import { waitUntil } from '../stack/wait.ts';
import type { Known } from './values.ts';

export const prepared = 3;

export type Site = Omit<Known, 'cursors' | 'recordIds' | 'notices' | 'visitors' | 'erasures' | 'webhooks'> & {
  baseUrl: string;
};

export async function prepare(site: Site): Promise<Known> {
  for (let count = 0; count < prepared; count += 1) {
    const status = await record(site);
    if (status !== 202) throw new Error(`a valid record is answered ${status}`);
  }
  if (!(await waitForTotal(site, prepared))) throw new Error('records do not arrive in the log');
  const pages = [`/v1/consent/${site.domainId}/records?limit=1`, '/v1/consent/org-stats?limit=1'];
  const cursors = await Promise.all(pages.map(async (page) => String((await get(site, page)).nextCursor)));
  const { records = [] } = await get(site, `/v1/consent/${site.domainId}/records`);
  const recordIds = records.map(({ id }) => id);
  const [notice, erasure] = [await putNotice(site), await erase(site)];
  // many, since the fuzzer deletes them
  const webhooks = await Promise.all(Array.from({ length: 20 }, () => makeWebhook(site)));
  return { ...site, cursors, recordIds, notices: [notice], visitors, erasures: [erasure], webhooks };
}

/** The fuzzer erases them again and again, and records for them. */
const visitors = ['v-1', 'v/2?#%'];

async function erase({ baseUrl, token }: Site): Promise<string> {
  const response = await fetch(`${baseUrl}/v1/organization/visitors/nobody`, {
    method: 'DELETE',
    headers: { authorization: `Bearer ${token}` },
  });
  if (response.status !== 200) throw new Error(`a valid erasure is answered ${response.status}`);
  return String(((await response.json()) as { erasureId: string }).erasureId);
}

async function makeWebhook({ baseUrl, webhooksToken }: Site): Promise<string> {
  const response = await fetch(`${baseUrl}/v1/organization/webhooks`, {
    method: 'POST',
    headers: { authorization: `Bearer ${webhooksToken}`, 'content-type': 'application/json' },
    body: JSON.stringify({ url: 'https://receiver.example/', types: ['visitor.erased'] }),
  });
  if (response.status !== 201) throw new Error(`a valid webhook is answered ${response.status}`);
  return String(((await response.json()) as { webhookId: string }).webhookId);
}

/** What the fuzzer sends most often as a document. */
async function putNotice({ baseUrl, domainId, apiKey }: Site): Promise<string> {
  const hash = createHash('sha256').update('{}').digest('hex');
  const response = await fetch(`${baseUrl}/v1/consent/${domainId}/notices/${hash}`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json', 'x-api-key': apiKey },
    body: '{}',
  });
  if (response.status !== 201) throw new Error(`a valid notice is answered ${response.status}`);
  return hash;
}

export const record = async (site: Site): Promise<number> =>
  (await postRecord(site.baseUrl, site, { decision: 'custom' })).status;

/** Whether the log comes to hold exactly so many; a record may take 30 s from its receipt to the log. */
export const waitForTotal = (site: Site, total: number): Promise<boolean> => {
  const page = `/v1/consent/${site.domainId}/records?limit=1`;
  return waitUntil(async () => (await get(site, page)).total === total, { deadlineMs: 30_000 });
};

interface Answer {
  total?: number;
  nextCursor?: string;
  records?: { id: string }[];
}

async function get({ baseUrl, token }: Site, path: string): Promise<Answer> {
  const response = await read(baseUrl + path, token);
  return (await response.json()) as Answer;
}
