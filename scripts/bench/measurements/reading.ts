import { z } from 'zod';
import { addMonths, dayOf, firstDay, monthOf, startOf } from '#libs/base/terms/calendar';
import type { Site } from '../../stack/sites.ts';
import { bareKoa, fullLoad, get, load, type Measurement, persistAlone, untilFromRedis } from '../measurement.ts';
import type { Stack } from '../stack.ts';

const limit = 50;
const reads = 60;
const page = z.object({ totalPages: z.number() });

export const pages: Measurement = {
  name: 'pages',
  about: 'any page of a large log ÷ its first page, and org-stats',
  figure: async (stack, { records: tenth }) => {
    const sites = stack.sites.slice(0, 4);
    await fillLog(stack, sites, 10 * tenth);
    const [{ domainId = '', organizationId = '' } = {}] = sites;
    const token = stack.token(organizationId);
    const api = await stack.startApi();
    const records = (query: string) => `/v1/consent/${domainId}/records?limit=${limit}${query}`;
    const { totalPages } = page.parse(await (await get(api, records(''), token)).json());
    const random = () => 1 + Math.floor(Math.random() * totalPages);
    const numbers = [Math.ceil(totalPages / 2), totalPages, ...Array.from({ length: reads - 2 }, random)];
    // one request after the other: what counts is how long one takes
    const readAll = (...paths: string[]) =>
      load({ baseUrl: api.baseUrl, send: { token, paths }, connections: 1, count: reads });
    const round = async () => {
      const first = await readAll(records(''));
      const any = await readAll(...numbers.map((at) => records(`&page=${at}`)));
      const orgStats = await readAll('/v1/consent/org-stats');
      return {
        'pages: any ÷ first': { value: any.p50 / first.p50, unit: '' },
        'pages: any, p99': { value: any.p99, unit: 'ms' },
        'pages: org-stats, p50': { value: orgStats.p50, unit: 'ms' },
      };
    };
    await round();
    return round;
  },
  targets: {
    'pages: any ÷ first': 'at most 3',
    'pages: any, p99': 'at most 60',
    'pages: org-stats, p50': 'at most 30',
  },
};

/** Records of 21 months in the order of their time; a tenth of them lies on one day in the middle. */
async function fillLog(stack: Stack, sites: Site[], records: number): Promise<void> {
  const { db } = stack;
  const domainIds = sites.map(({ domainId }) => domainId);
  const months = 21;
  const fill = (count: number, from: number, to: number) =>
    persistAlone(stack, { domainIds, records: count, span: [from, to] });
  for (let back = months; back > 0; back -= 1) {
    const month = addMonths(monthOf(Date.now()), -back);
    await db.run((sql) => sql`select make_record_month(${month})`);
    const from = startOf(firstDay(month));
    await fill((records * 0.9) / months, from, startOf(firstDay(addMonths(month, 1))));
    const busy = from + 14 * 86_400_000;
    if (back === 11) await fill(records / 10, busy, busy + 86_400_000);
  }
  await db.run((sql) => sql`vacuum (analyze) records, counters`);
}

const ofOneOrganization = ({ sites }: Stack) => sites.slice(0, 4);
/** The 12th, so that there are whole months and days at both edges. */
const begin = () => `${addMonths(monthOf(Date.now()), -19)}-12`;
const today = () => dayOf(Date.now());

export function readsOf(stack: Stack) {
  const sites = ofOneOrganization(stack);
  const paths = sites.map(({ domainId }) => `/v1/consent/${domainId}/stats?from=${begin()}&to=${today()}`);
  return { paths, token: stack.token(sites[0]?.organizationId ?? '') };
}

/** As if records had come for 20 months: statistics read nothing else. */
export async function fillCounters(stack: Stack): Promise<void> {
  const sites = ofOneOrganization(stack);
  await stack.db.run(
    (sql) => sql`
      insert into counters (organization_id, domain_id, period, accept_all, reject_all, custom, withdraw)
      select ${sites[0]?.organizationId ?? ''}, level.domain_id, left(day::text, level.length),
        500 * count(*), 320 * count(*), 140 * count(*), 40 * count(*)
      from unnest(${sites.map(({ domainId }) => domainId)}::text[]) as site (domain_id)
      cross join generate_series(${begin()}::date, ${today()}::date, '1 day') as day
      cross join lateral (values (site.domain_id, 10), (site.domain_id, 7), ('', 10), ('', 7)) as level (domain_id, length)
      group by level.domain_id, left(day::text, level.length)`,
  );
}

export const stats: Measurement = {
  name: 'stats',
  about: 'GET stats over 20 months ÷ a Koa GET that only verifies the same token',
  reference: bareKoa('stats', readsOf),
  figure: async (stack, { seconds }) => {
    await fillCounters(stack);
    const send = readsOf(stack);
    const api = await stack.startApi();
    await untilFromRedis(api, send.paths[0] ?? '', send.token);
    return fullLoad('stats', api, { seconds, send });
  },
  targets: { stats: 'at least 0.5' },
};
