import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { addMonths, dayOf, firstDay, monthOf, startOf } from '#libs/contract/calendar';
import { exportFormats } from '#libs/contract/terms';
import { setBookmarks } from '#libs/store/records/bookmarks';
import type { Site } from '../../stack/client.ts';
import { figuresBetween, look } from '../cpu-time.ts';
import { atMost, type Figures } from '../figures.ts';
import { get, type Measurement } from '../measurement.ts';
import { load, persistAlone } from '../programs.ts';
import type { Reads } from '../requests.ts';
import type { Server, Stack } from '../stack.ts';

const limit = 50;
const reads = 60;
const page = z.object({ totalPages: z.number(), records: z.array(z.object({ visitorId: z.string() })) });

export const pages: Measurement = {
  name: 'pages',
  about: "any page of a large log ÷ its first page, a visitor's and a rare decision's pages, org-stats, and exports",
  figure: async (stack, { records: tenth }) => {
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
    const rareNumbers = [1, Math.ceil(rarePages / 2), rarePages];
    const lists: Record<string, Reads> = {
      any: { token, paths: numbers.map((at) => records(`&page=${at}`)) },
      'of a visitor': { token, paths: first.records.map(({ visitorId }) => records(`&visitorId=${visitorId}`)) },
      'of a rare decision': { token, paths: rareNumbers.map((at) => records(`&decision=withdraw&page=${at}`)) },
      'org-stats': { token, paths: ['/v1/consent/org-stats'] },
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
      return { ...figures, ...(await exportAll(stack, api, sites.at(-1))) };
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
    'export: API, peak memory': atMost(250),
  },
};

/** Reads a domain's records in each format without keeping them. */
async function exportAll({ token, pids }: Stack, api: Server, site: Site | undefined): Promise<Figures> {
  const { domainId = '', organizationId = '' } = site ?? {};
  const figures: Figures = {};
  for (const format of exportFormats) {
    const used = { API: api.pid, Postgres: pids.Postgres };
    const before = look(0, used);
    const path = `/v1/consent/${domainId}/export?format=${format}`;
    const { body } = await get(api, path, token(organizationId));
    // a header, or the line that ends it
    let records = -1;
    for await (const chunk of body ?? []) {
      for (let at = chunk.indexOf(0x0a); at !== -1; at = chunk.indexOf(0x0a, at + 1)) records += 1;
    }
    Object.assign(figures, figuresBetween(`export: ${format}`, before, look(records, used)));
  }
  return { ...figures, 'export: API, peak memory': { value: peakMemory(api.pid) / 1e6, unit: 'MB' } };
}

/** In bytes: proc_pid_status(5). */
const peakMemory = (pid: number): number =>
  Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1_024;

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
