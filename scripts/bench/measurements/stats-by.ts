import { addDays, dayOf } from '#libs/contract/calendar';
import { atMost, type Figures } from '../figures.ts';
import { get, type Measurement, statsPath } from '../measurement.ts';
import { load } from '../programs.ts';
import type { Stack } from '../stack.ts';

/** as many as have a place */
const values = 200;
const days = 366;
const reads = 40;
const today = () => dayOf(Date.now());

/** The facets of a domain and of its organization, each day with all the values that have a place. */
const fillFacets = ({ db }: Stack, domainId: string) =>
  db.run(
    (sql) => sql`
      insert into facets (
        organization_number, domain_number, dimension, period, value, is_other, accept_all, reject_all, custom, withdraw,
        choices, opt_ins, answers
      )
      select
        o.number, level.domain_number, 'country', left(day::text, level.length), 'value ' || value, false,
        count(*) * 50, count(*) * 30, count(*) * 15, count(*) * 5, count(*) * 95, count(*) * 60, count(*) * 90
      from domains d
      join organizations o on o.id = d.organization_id
      cross join generate_series(1, ${values}) as value
      cross join generate_series(${addDays(today(), 1 - 2 * days)}::date, ${today()}::date, '1 day') as day
      cross join lateral (values (d.number, 10), (d.number, 7), (0, 10), (0, 7)) as level (domain_number, length)
      where d.id = ${domainId}
      group by 1, 2, 4, 5
      on conflict do nothing`,
  );

export const statsBy: Measurement = {
  name: 'stats-by',
  about: `how long statistics by one of ${values} values over ${days} days take, of a domain and an organization`,
  figure: async (stack) => {
    const [{ domainId = '', organizationId = '' } = {}] = stack.sites;
    await fillFacets(stack, domainId);
    await stack.db.run((sql) => sql`vacuum analyze facets`);
    const token = stack.token(organizationId);
    const api = await stack.startApi();
    const readAll = async (ofDomain: boolean) => {
      // each another range: an answer that was read before is kept
      const paths = Array.from({ length: reads }, (_, back) => {
        const to = addDays(today(), -back);
        const path = `${statsPath(domainId, addDays(to, 1 - days), to)}&by=country`;
        return ofDomain ? path : path.replace(/^.*\/stats/, '/v1/organization/stats');
      });
      await get(api, paths[0] ?? '', token);
      // one request after the other: what counts is how long one takes
      const { p50, p99 } = await load({ baseUrl: api.baseUrl, send: { token, paths }, connections: 1, count: reads });
      return { p50, p99 };
    };
    return async () => {
      const figures: Figures = {};
      for (const [name, ofDomain] of [
        ['of a domain', true],
        ['of an organization', false],
      ] as const) {
        const { p50, p99 } = await readAll(ofDomain);
        figures[`stats-by: ${name}, p50`] = { value: p50, unit: 'ms' };
        figures[`stats-by: ${name}, p99`] = { value: p99, unit: 'ms' };
      }
      return figures;
    };
  },
  targets: { 'stats-by: of a domain, p50': atMost(20), 'stats-by: of an organization, p50': atMost(50) },
};
