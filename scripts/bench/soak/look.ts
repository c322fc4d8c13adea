/** One look at all that must not grow while the load stays the same. */
import { diskUse } from '../disk-use.ts';
import type { Sample } from '../slope.ts';
import type { Server, Stack } from '../stack.ts';
import { handlesOf, memoryOf } from './process-tree.ts';

const megabyte = 1_048_576;

/** The units of what is looked at. */
export const held: Record<string, string> = {
  'API, memory': 'MB',
  'worker, memory': 'MB',
  'Postgres, memory': 'MB',
  'Redis, memory': 'MB',
  'API, file handles': '',
  'worker, file handles': '',
  'Postgres, file handles': '',
  'Redis, file handles': '',
  'Postgres, connections': '',
  'Redis, connections': '',
  'disk of a record': 'bytes',
  'dead rows': '% of all',
};

export async function look({ db, redis, pids }: Stack, servers: { API: Server; worker: Server }): Promise<Sample> {
  const values: Record<string, number> = {};
  const processes = { API: servers.API.pid, worker: servers.worker.pid, ...pids };
  for (const [name, pid] of Object.entries(processes)) {
    values[`${name}, memory`] = memoryOf(pid) / megabyte;
    values[`${name}, file handles`] = handlesOf(pid);
  }
  const [row] = await db.run(
    (sql) => sql<{ connections: number; dead: number; stored: number }[]>`
      select
        (select count(*)::int from pg_stat_activity where backend_type = 'client backend') as connections,
        (select sum(n_dead_tup)::float / sum(n_live_tup + n_dead_tup) * 100 from pg_stat_user_tables) as dead,
        (
          select sum(accept_all + reject_all + custom + withdraw)::float from counters
          where domain_id = '' and length(period) = 7
        ) as stored`,
  );
  const bytes = Object.values(await diskUse(db)).reduce((sum, part) => sum + part, 0);
  values['Postgres, connections'] = row?.connections ?? Number.NaN;
  values['dead rows'] = row?.dead ?? Number.NaN;
  values['disk of a record'] = bytes / (row?.stored ?? Number.NaN);
  values['Redis, connections'] = Number(/connected_clients:(\d+)/.exec(await redis.info('clients'))?.[1]);
  return { at: performance.now(), values };
}
