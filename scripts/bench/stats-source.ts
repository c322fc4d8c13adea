/** Statistics come from Redis once an organization's counters were filled into it. */
import { waitUntil } from '../stack/wait.ts';
import { getRequest, openConnection } from './connection.ts';

export async function untilFromRedis(baseUrl: string, path: string, token: string): Promise<void> {
  const connection = await openConnection(baseUrl);
  const isFromRedis = async () => {
    const { status, head } = await connection.send(getRequest(baseUrl, path, token));
    if (status !== 200) throw new Error(`${path} answered ${status}`);
    return /^x-stats-source: redis$/im.test(head);
  };
  const filled = await waitUntil(isFromRedis, { deadlineMs: 60_000, intervalMs: 50 });
  connection.close();
  if (!filled) throw new Error('the statistics do not come from Redis');
}
