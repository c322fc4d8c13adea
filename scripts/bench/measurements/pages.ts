import { z } from 'zod';
import { addMonths, dayOf, firstDay, monthOf, startOf } from '#libs/contract/calendar';
import { setBookmarks } from '#libs/store/records/bookmarks';
import type { Site } from '../../stack/client.ts';
import { atMost, type Figures } from '../figures.ts';
import { addDomains } from '../many-domains.ts';
import { get, type Measurement } from '../measurement.ts';
import { load, persistAlone } from '../programs.ts';
import type { Reads } from '../requests.ts';
import type { Stack } from '../stack.ts';

const limit = 50;
const reads = 60;
const page = z.object({ totalPages: z.number(), records: z.array(z.object({ visitorId: z.string() })) });

export const pages: Measurement = {
  name: 'pages',
  about: "any page of a large log ÷ its first page, a visitor's and a rare decision's pages, and org-stats",
  figure: async (stack, { records: tenth }) => {
    const sites = stack.sites.slice(0, 4);
    await fillLog(stack, sites, 10 * tenth);
    const [{ domainId = '', organizationId = '' } = {}] = sites;
    const token = stack.token(organizationId);
    const large = await fillLarge(stack, tenth);
    const api = await stack.startApi();
    const records = (query: string) => `/v1/consent/${domainId}/records?limit=${limit}${query}`;
    const readPage = async (query: string) => page.parse(await (await get(api, records(query), token)).json());

    const first = await readPage('');
    const { totalPages: rarePages } = await readPage('&decision=withdraw');
    const random = () => 1 + Math.floor(Math.random() * first.totalPages);
    const middle = Math.ceil(first.totalPages / 2);
    const numbers = [middle, first.totalPages, ...Array.from({ length: reads - 2 }, random)];
    const rareNumbers = [1, Math.ceil(rarePages / 2), rarePages];
    const orgStats = ['/v1/consent/org-stats'];
    const lists: Record<string, Reads> = {
      any: { token, paths: numbers.map((at) => records(`&page=${at}`)) },
      'of a visitor': { token, paths: first.records.map(({ visitorId }) => records(`&visitorId=${visitorId}`)) },
      'of a rare decision': { token, paths: rareNumbers.map((at) => records(`&decision=withdraw&page=${at}`)) },
      'org-stats': { token, paths: orgStats },
      'org-stats of 10,000 domains': { token: stack.token(large), paths: orgStats },
    };
    // one request after the other: what counts is how long one takes
    const readAll = (send: Reads) => load({ baseUrl: api.baseUrl, send, connections: 1, count: reads });
    const round = async () => {
      const { p50: ofFirst } = await readAll({ token, paths: [records('')] });
      const figures: Figures = { 'pages: first, p50': { value: ofFirst, unit: 'ms' } };
      for (const [name, list] of Object.entries(lists)) {
        const { p50, p99 } = await readAll(list);
        figures[`pages: ${name}, p50`] = { value: p50, unit: 'ms' };
        figures[`pages: ${name}, p99`] = { value: p99, unit: 'ms' };
        if (name === 'any') figures['pages: any ÷ first'] = { value: p50 / ofFirst, unit: '' };
      }
      return figures;
    };
    await round();
    return round;
  },
  targets: {
    'pages: any ÷ first': atMost(3),
    'pages: any, p99': atMost(60),
    'pages: of a visitor, p99': atMost(20),
    'pages: of a rare decision, p99': atMost(20),
    'pages: org-stats, p50': atMost(30),
    'pages: org-stats of 10,000 domains, p50': atMost(30),
  },
};

/** An organization of 10,000 domains with records of the last five days. */
async function fillLarge(stack: Stack, records: number): Promise<string> {
  const [{ organizationId = '' } = {}] = await stack.makeSites(1);
  const domainIds = await addDomains(stack, [organizationId], 10_000);
  const now = Date.now();
  // a program's arguments have room for some thousands of ids
  for (let at = 0; at < domainIds.length; at += 2_500) {
    const some = domainIds.slice(at, at + 2_500);
    await persistAlone(stack, { records: records / 4, domainIds: some, span: [now - 5 * 86_400_000, now] });
  }
  return organizationId;
}

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
  const since = firstDay(addMonths(monthOf(Date.now()), -months));
  await setBookmarks(db, { today: dayOf(Date.now()), since });
  await db.run((sql) => sql`vacuum (analyze) records, counters`);
}
