/** What visitors allow now, read from months of records: present and absent visitors, one or 200 at a time. */
import path from 'node:path';
import { addMonths, monthOf } from '#libs/base/terms/calendar';
import { mostVisitors } from '#libs/current/contract';
import { startPgBouncer } from '../../stack/pgbouncer.ts';
import { cpuTime, type Figures } from '../figures.ts';
import { load, type Measurement, untilFromRedis } from '../measurement.ts';
import type { LookUps, Reads } from '../requests.ts';
import type { Server, Stack } from '../stack.ts';
import { fillCounters, readsOf } from './reading.ts';

const months = 36;
/** records of a visitor */
const each = 10;

/** Postgres generates the rows itself, a month at a time. Returns the seconds that it took. */
async function fill({ db, sites }: Stack, records: number): Promise<number> {
  const since = performance.now();
  const [{ domainId = '' } = {}] = sites;
  for (let back = months - 1; back >= 0; back -= 1) {
    const month = addMonths(monthOf(Date.now()), -back);
    await db.run((sql) => sql`select make_record_month(${month})`);
    await db.run(
      (sql) => sql`
        insert into records (
          domain_number, id, received_at, epoch, decision, source, bot, visitor_id, preferences, policy_version, model
        )
        select number, overlay(gen_random_uuid()::text placing left(id_at(moment)::text, 14) || '7' from 1 for 15)::uuid,
          moment, 1, 'custom', 'banner', false, md5(floor(random() * ${records / each})::bigint::text),
          '{"necessary": true, "analytics": true, "marketing": false}', '2026-09', 'opt_in'
        from domains, generate_series(1, ${Math.round(records / months)}::integer) as n
        cross join lateral (
          select ((${month} || '-01')::timestamp at time zone 'UTC')
            + n * interval '27 days' / ${Math.round(records / months)}::float8 as moment
        ) as made
        where id = ${domainId}`,
    );
  }
  await db.run((sql) => sql`vacuum (analyze) records`);
  return (performance.now() - since) / 1_000;
}

/** Requests a second, and the CPU time of the API and of Postgres for an id. Before that it runs once: connections keep plans. */
async function measure(
  stack: Stack,
  api: Server,
  name: string,
  ids: number,
  given: { send: Reads | LookUps; seconds: number },
) {
  // more ids at once would exceed the service's deadline
  const wanted = { ...given, connections: ids === 1 ? 128 : 4 };
  await load({ baseUrl: api.baseUrl, ...wanted });
  const used = { API: api.pid, Postgres: stack.pids.Postgres };
  const times = () => Object.entries(used).map(([process, pid]) => [process, cpuTime(pid)] as const);
  const before = new Map(times());
  const { answered, seconds } = await load({ baseUrl: api.baseUrl, ...wanted });
  const figures: Figures = { [name]: { value: answered / seconds, unit: 'requests/s' } };
  for (const [process, time] of times())
    figures[`${name}: ${process}`] = {
      value: (time - (before.get(process) ?? 0)) / answered / ids,
      unit: 'µs CPU an id',
    };
  return figures;
}

export const current: Measurement = {
  name: 'current',
  about:
    'what visitors allow now, of 36 months of records ÷ stats of the same run; absent ones, 200 at once, PgBouncer',
  figure: async (stack, { records: fiftieth, seconds }) => {
    const records = 50 * fiftieth;
    const took = await fill(stack, records);
    await fillCounters(stack);
    const [{ domainId = '', organizationId = '' } = {}] = stack.sites;
    const token = stack.token(organizationId, 'current');
    const visitors = Math.round(records / each);
    const root = `/v1/consent/${domainId}/current`;
    const lookUps = (prefix: string, atOnce = 1): LookUps => ({ token, path: root, prefix, visitors, atOnce });
    const bouncer = await startPgBouncer({
      dataDir: path.join(stack.folder, 'pgbouncer'),
      databaseUrl: stack.databaseUrl,
    });
    stack.onStop(() => bouncer.stop());
    const api = await stack.startApi();
    const pooled = await stack.startApi({ DATABASE_URL: bouncer.url, DATABASE_PREPARE: 'false' });
    const ofStats = readsOf(stack);
    await untilFromRedis(api, ofStats.paths[0] ?? '', ofStats.token);
    return async () => {
      const of = (server: Server, name: string, ids: number, send: Reads | LookUps) =>
        measure(stack, server, name, ids, { send, seconds });
      const found: Figures = {
        ...(await of(api, 'current: one', 1, lookUps(''))),
        ...(await of(api, 'current: absent', 1, lookUps('absent'))),
        ...(await of(api, 'current: 200', mostVisitors, lookUps('', mostVisitors))),
        ...(await of(pooled, 'current: one, pooled', 1, lookUps(''))),
        ...(await of(pooled, 'current: 200, pooled', mostVisitors, lookUps('', mostVisitors))),
        ...(await of(api, 'current: stats', 1, ofStats)),
      };
      const rate = (name: string) => found[`current: ${name}`]?.value ?? Number.NaN;
      return {
        ...found,
        'current: one ÷ stats': { value: rate('one') / rate('stats'), unit: '' },
        'current: an absent one ÷ one': { value: rate('one') / rate('absent'), unit: '' },
        'current: 200 ÷ one': { value: rate('one') / rate('200'), unit: '' },
        [`current: ${records} records stored`]: { value: took, unit: 's' },
      };
    };
  },
  targets: {
    'current: one ÷ stats': 'at least 0.5',
    'current: an absent one ÷ one': 'at most 2',
    'current: 200 ÷ one': 'at most 40',
  },
};
