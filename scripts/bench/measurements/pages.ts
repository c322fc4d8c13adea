/** Pages of the log, one request after the other: wherever a page lies, it should not take much longer than the first. */
import { getRequest, openConnection } from '../connection.ts';
import { largestDomain, organizationId, readMadeOn, spanOf } from '../data-sets.ts';
import { atMost, compared, type Measurement, single } from '../measurement.ts';
import { median } from '../quantiles.ts';
import type { Stack } from '../stack.ts';

const limit = 50;
const passes = 3;
const randomPages = 50;
const rareDecision = 'withdraw';

interface Page {
  total: number;
  totalPages: number;
  records: { visitorId: string }[];
}

export const pages: Measurement = {
  name: 'pages',
  about: "any page of a large domain's log, the pages of a visitor, and those of a rare decision",
  run: async (bench, { large }) => {
    const stack = await bench.kept(large);
    const read = await openReader(stack);
    const { page: first } = await read('');
    const any = await findPages(stack, first.totalPages);
    const [anywhere, atFirst] = [
      await time(read, any),
      await time(
        read,
        any.map(() => ''),
      ),
    ];

    const visitors = await time(
      read,
      first.records.slice(0, 20).map(({ visitorId }) => `&visitorId=${visitorId}`),
    );
    const { page: rare } = await read(`&decision=${rareDecision}`);
    const rarePages = [1, Math.ceil(rare.totalPages / 2), rare.totalPages];
    const decisions = await time(
      read,
      rarePages.map((page) => `&decision=${rareDecision}&page=${page}`),
    );

    const figure = median([...anywhere.values()]);
    const reference = median([...atFirst.values()]);
    const [slowest, at] = slowestOf(anywhere);
    const [slowestRare, rareAt] = slowestOf(decisions);
    return [
      { ...single('pages: slowest', 'ms', slowest, atMost(60)), note: `${at} of ${first.totalPages}` },
      compared('pages: any', 'ms p50', { figure, reference, ratio: figure / reference }, atMost(3)),
      single('pages: of a visitor', 'ms', slowestOf(visitors)[0], atMost(20)),
      { ...single('pages: of a rare decision', 'ms', slowestRare, atMost(20)), note: rareAt },
    ];
  },
};

type Read = (query: string) => Promise<{ page: Page; milliseconds: number }>;

async function openReader(stack: Stack): Promise<Read> {
  const { baseUrl } = await stack.startApi();
  const connection = await openConnection(baseUrl);
  const token = stack.token(organizationId);
  return async (query) => {
    const request = getRequest(baseUrl, `/v1/consent/${largestDomain}/records?limit=${limit}${query}`, token);
    const started = performance.now();
    const { status, body } = await connection.send(request);
    const milliseconds = performance.now() - started;
    if (status !== 200) throw new Error(`${query} answered ${status}: ${body.toString()}`);
    return { page: JSON.parse(body.toString()) as Page, milliseconds };
  };
}

/** 50 at random, the last one, and the one in the middle of the busy day. */
async function findPages({ db }: Stack, totalPages: number): Promise<string[]> {
  const { busyDay } = spanOf(await readMadeOn(db));
  const [row] = await db.run(
    (sql) => sql<{ newer: number; n: number }[]>`
      select
        sum(accept_all + reject_all + custom + withdraw) filter (where period > ${busyDay})::int as newer,
        sum(accept_all + reject_all + custom + withdraw) filter (where period = ${busyDay})::int as n
      from counters
      where organization_id = ${organizationId} and domain_id = ${largestDomain} and length(period) = 10`,
  );
  const middle = Math.ceil(((row?.newer ?? 0) + (row?.n ?? 0) / 2) / limit);
  const random = Array.from({ length: randomPages }, () => 1 + Math.floor(Math.random() * totalPages));
  return [...random, middle, totalPages].map((page) => `&page=${page}`);
}

/** The median time of each, of several passes: what a page has in memory is not its own doing a moment ago. */
async function time(read: Read, queries: string[]): Promise<Map<string, number>> {
  const times = new Map<string, number[]>();
  for (let pass = 0; pass < passes; pass += 1) {
    for (const query of queries) {
      const { milliseconds, page } = await read(query);
      if (page.records.length === 0) throw new Error(`nothing on ${query}`);
      times.set(query, [...(times.get(query) ?? []), milliseconds]);
    }
  }
  return new Map(Array.from(times, ([query, each]) => [query, median(each)]));
}

function slowestOf(times: Map<string, number>): [milliseconds: number, query: string] {
  const [query = '', milliseconds = Number.NaN] = [...times].sort(([, one], [, other]) => other - one)[0] ?? [];
  return [milliseconds, query.slice(1)];
}
