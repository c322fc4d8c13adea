import { addMonths, dayOf, monthOf } from '#libs/base/terms/calendar';
import { atLeast } from '../figures.ts';
import { bareKoa, fullLoad, type Measurement, untilFromRedis } from '../measurement.ts';
import type { Stack } from '../stack.ts';

const ofOneOrganization = ({ sites }: Stack) => sites.slice(0, 4);
/** The 12th, so that there are whole months and days at both edges. */
const firstDay = () => `${addMonths(monthOf(Date.now()), -19)}-12`;
const today = () => dayOf(Date.now());

function readsOf(stack: Stack) {
  const sites = ofOneOrganization(stack);
  const paths = sites.map(({ domainId }) => `/v1/consent/${domainId}/stats?from=${firstDay()}&to=${today()}`);
  return { paths, token: stack.token(sites[0]?.organizationId ?? '') };
}

/** As if records had come for 20 months: statistics read nothing else. */
async function fillCounters(stack: Stack): Promise<void> {
  const sites = ofOneOrganization(stack);
  await stack.db.run(
    (sql) => sql`
      insert into counters (organization_id, domain_id, period, accept_all, reject_all, custom, withdraw)
      select ${sites[0]?.organizationId ?? ''}, level.domain_id, left(day::text, level.length),
        500 * count(*), 320 * count(*), 140 * count(*), 40 * count(*)
      from unnest(${sites.map(({ domainId }) => domainId)}::text[]) as site (domain_id)
      cross join generate_series(${firstDay()}::date, ${today()}::date, '1 day') as day
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
  targets: { stats: atLeast(0.5) },
};
