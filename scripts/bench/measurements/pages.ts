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
const firstPage = '&page=1';

interface Page {
  totalPages: number;
  records: { visitorId: string }[];
}

export const pages: Measurement = {
  name: 'pages',
  about: "any page of a large domain's log, the pages of a visitor, and those of a rare decision",
  run: async (bench, { large }) => {
    const stack = await bench.kept(large);
    const reader = await openReader(stack);
    const first = await reader.page(firstPage);
    const anywhere = await findPages(stack, first.totalPages);
    // the first page again and again between the others
    const times = await readAll(
      reader,
      anywhere.flatMap((query) => [query, firstPage]),
    );
    const reference = median(times.get(firstPage) ?? []);
    times.delete(firstPage);
    const figure = median([...times.values()].flat());
    const [slowest, at] = slowestOf(times);

    const visitors = first.records.slice(0, 20).map(({ visitorId }) => `&visitorId=${visitorId}`);
    const [ofVisitor] = slowestOf(await readAll(reader, visitors));

    const { totalPages } = await reader.page(`&decision=${rareDecision}`);
    const decisions = [1, Math.ceil(totalPages / 2), totalPages].map(
      (page) => `&decision=${rareDecision}&page=${page}`,
    );
    const [ofDecision, decisionAt] = slowestOf(await readAll(reader, decisions));

    return [
      { ...single('pages: slowest', 'ms', slowest, atMost(60)), note: `${at.slice(1)} of ${first.totalPages}` },
      compared('pages: any', 'ms p50', { figure, reference, ratio: figure / reference }, atMost(3)),
      single('pages: of a visitor', 'ms', ofVisitor, atMost(20)),
      { ...single('pages: of a rare decision', 'ms', ofDecision, atMost(20)), note: decisionAt.slice(1) },
      single('pages: refused', 'requests', reader.refused(), atMost(0)),
    ];
  },
};

interface Reader {
  /** How long the answer took. */
  milliseconds(query: string): Promise<number>;
  /** Asks again while the service refuses. */
  page(query: string): Promise<Page>;
  /** how many requests were answered with a 503 */
  refused(): number;
}

async function openReader(stack: Stack): Promise<Reader> {
  const { baseUrl } = await stack.startApi();
  let connection = await openConnection(baseUrl);
  const token = stack.token(organizationId);
  let refused = 0;
  const read = async (query: string) => {
    const path = `/v1/consent/${largestDomain}/records?limit=${limit}${query}`;
    const { status, head, body } = await connection.send(getRequest(baseUrl, path, token));
    if (/^connection: close$/im.test(head)) connection = await openConnection(baseUrl);
    if (status === 503) refused += 1;
    else if (status !== 200) throw new Error(`${path} answered ${status}`);
    return status === 200 ? (JSON.parse(body.toString()) as Page) : undefined;
  };
  return {
    milliseconds: async (query) => {
      const started = performance.now();
      const page = await read(query);
      const taken = performance.now() - started;
      if (page?.records.length === 0) throw new Error(`there is nothing on ${query.slice(1)}`);
      return taken;
    },
    page: async (query) => {
      for (let attempt = 1; attempt <= 60; attempt += 1) {
        const page = await read(query);
        if (page) return page;
      }
      throw new Error(`${query.slice(1)} is refused again and again`);
    },
    refused: () => refused,
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
  const random = Array.from({ length: randomPages }, () => 2 + Math.floor(Math.random() * (totalPages - 1)));
  return [...random, middle, totalPages].map((page) => `&page=${page}`);
}

/** Several passes over all: no page is read twice in a row, while it is still at hand. */
async function readAll(reader: Reader, queries: string[]): Promise<Map<string, number[]>> {
  const times = new Map<string, number[]>();
  for (let pass = 0; pass < passes; pass += 1) {
    for (const query of queries) {
      const taken = times.get(query) ?? [];
      taken.push(await reader.milliseconds(query));
      times.set(query, taken);
    }
  }
  return times;
}

/** The page whose median is the largest. */
function slowestOf(times: Map<string, number[]>): [milliseconds: number, query: string] {
  const medians = Array.from(times, ([query, taken]): [number, string] => [median(taken), query]);
  return medians.sort(([one], [other]) => other - one)[0] ?? [Number.NaN, ''];
}
