/** What a run needs to find in the service before it starts: some records, their ids, and cursors that lead to the rest of them. */
import { postRecord, read } from '../stack/client.ts';
import { waitUntil } from '../stack/wait.ts';
import type { Known } from './values.ts';

export const prepared = 3;

export type Site = Omit<Known, 'cursors' | 'recordIds'> & { baseUrl: string };

export async function prepare(site: Site): Promise<Known> {
  for (let count = 0; count < prepared; count += 1) {
    const status = await record(site);
    if (status !== 202) throw new Error(`a valid record is answered ${status}`);
  }
  if (!(await waitForTotal(site, prepared))) throw new Error('records do not arrive in the log');
  const pages = [`/v1/consent/${site.domainId}/records?limit=1`, '/v1/consent/org-stats?limit=1'];
  const cursors = await Promise.all(pages.map(async (page) => String((await get(site, page)).nextCursor)));
  const { records = [] } = await get(site, `/v1/consent/${site.domainId}/records`);
  return { ...site, cursors, recordIds: records.map(({ id }) => id) };
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
