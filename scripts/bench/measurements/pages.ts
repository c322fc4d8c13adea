import { z } from 'zod';
import { addMonths, dayOf, firstDay, monthOf, startOf } from '#libs/contract/calendar';
import { setBookmarks } from '#libs/store/records/bookmarks';
import { atMost, type Figures, inTurns, type Target } from '../figures.ts';
import { get, type Measurement } from '../measurement.ts';
import type { Site } from '../requests.ts';
import type { Stack } from '../stack.ts';
import { persistAlone } from './drain.ts';

const limit = 50;
const reads = 60;
const page = z.object({ totalPages: z.number(), records: z.array(z.object({ visitorId: z.string() })) });

type Wanted = [name: string, quantile: 'p50' | 'p99', paths: string[], target?: Target];

export const pages: Measurement = {
  name: 'pages',
  about: "any page of a large log ÷ its first page, a visitor's and a rare decision's pages, and org-stats",
  run: async (stack, { rounds, records: tenth }) => {
    const sites = stack.sites.slice(0, 4);
    await fillLog(stack, sites, 10 * tenth);
    const [{ domainId = '', organizationId = '' } = {}] = sites;
    const token = stack.token(organizationId);
    const api = await stack.startApi();
    const records = (query: string) => `/v1/consent/${domainId}/records?limit=${limit}${query}`;
    const readPage = async (query: string) => page.parse(await (await get(api, records(query), token)).json());

    const first = await readPage('');
    const { totalPages: rarePages } = await readPage('&decision=withdraw');
    const random = () => 1 + Math.floor(Math.random() * first.totalPages);
    const middle = Math.ceil(first.totalPages / 2);
    const numbers = [middle, first.totalPages, ...Array.from({ length: reads - 2 }, random)];
    const anywhere = numbers.map((at) => records(`&page=${at}`));
    const rare = [1, Math.ceil(rarePages / 2), rarePages].map((at) => records(`&decision=withdraw&page=${at}`));
    const visitors = first.records.map(({ visitorId }) => records(`&visitorId=${visitorId}`));
    const figures: Wanted[] = [
      ['pages: any', 'p50', anywhere, atMost(3)],
      ['pages: slowest', 'p99', anywhere, atMost(60)],
      ['pages: of a visitor', 'p99', visitors, atMost(20)],
      ['pages: of a rare decision', 'p99', rare, atMost(20)],
      ['pages: org-stats', 'p50', ['/v1/consent/org-stats'], atMost(30)],
    ];
    const round = (list: Wanted[]) => async () => {
      const found: Figures = {};
      for (const [name, quantile, paths] of list) {
        // one request after the other: what counts is how long one takes
        const load = { baseUrl: api.baseUrl, send: { paths, token }, connections: 1, count: reads };
        found[name] = { value: (await stack.load(load))[quantile], unit: `ms ${quantile}` };
      }
      return found;
    };
    await round(figures)();
    return inTurns(rounds, {
      reference: round([['pages: any', 'p50', [records('')]]]),
      figure: round(figures),
      targets: Object.fromEntries(figures.flatMap(([name, , , target]) => (target ? [[name, target]] : []))),
    });
  },
};

/** Records of 21 months in the order of their time; a tenth of them lies on one day in the middle. */
async function fillLog(stack: Stack, sites: Site[], records: number): Promise<void> {
  const months = 21;
  for (let back = months; back > 0; back -= 1) {
    const month = addMonths(monthOf(Date.now()), -back);
    await stack.db.run((sql) => sql`select make_record_month(${month})`);
    const [from, to] = [startOf(firstDay(month)), startOf(firstDay(addMonths(month, 1)))];
    await persistAlone(stack, (records * 0.9) / months, { sites, span: [from, to] });
    const busy = from + 14 * 86_400_000;
    if (back === 11) await persistAlone(stack, records / 10, { sites, span: [busy, busy + 86_400_000] });
  }
  await setBookmarks(stack.db, { today: dayOf(Date.now()) });
  await stack.db.run((sql) => sql`vacuum (analyze) records, counters`);
}
