import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { addMonths, firstDay, monthOf, startOf } from '#libs/base/terms/calendar';
import { exportFormats } from '#libs/base/terms/terms';
import type { Site } from '../../stack/client.ts';
import { figuresBetween, look } from '../cpu-time.ts';
import { atMost, type Figures } from '../figures.ts';
import { get, type Measurement } from '../measurement.ts';
import { load, persistAlone } from '../programs.ts';
import type { Server, Stack } from '../stack.ts';

const limit = 50;
const reads = 60;
const page = z.object({ totalPages: z.number() });

export const pages: Measurement = {
  name: 'pages',
  about: 'any page of a large log ÷ its first page, org-stats, and exports',
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
        ...(await exportAll(stack, api, sites.at(-1))),
      };
    };
    await round();
    return round;
  },
  targets: {
    'pages: any ÷ first': atMost(3),
    'pages: any, p99': atMost(60),
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
  await db.run((sql) => sql`vacuum (analyze) records, counters`);
}
