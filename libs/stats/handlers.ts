/** Statistics: counters over any range of days, plus facets if `by` is given, complete up to `through`. */
import type { z } from 'zod';
import { groupBy } from '#libs/base/group-by';
import { hashedTag } from '#libs/base/http/etag';
import type { Route } from '#libs/base/http/routes';
import type { InSlot } from '#libs/base/slots';
import { cover, daysBetween, monthOfDay, monthsBetween, type Span } from '#libs/base/terms/calendar';
import {
  addBreakdown,
  type Breakdown,
  emptyBreakdown,
  type OrganizationDimension,
  sumOf,
  totalOf,
  wholeOrganization,
  withTotal,
} from '#libs/base/terms/terms';
import { type Asked, endpoint } from '#libs/tenants/endpoint';
import { requireOwnDomain } from '#libs/tenants/requirements';
import type { SharedSlots } from '#libs/tenants/shared-slots';
import type { DomainStats, organizationStatsQuery } from './contract.ts';
import type { CounterReader } from './counter-reader.ts';
import type { Facet, FacetQuestion, FacetReader } from './facets.ts';
import { bySource, choiceFigures, groupedFigures, ratesBeside } from './groups.ts';
import { statsRoutes } from './routes.ts';

interface StatsParts {
  counters: CounterReader;
  facets: FacetReader;
  slots: Pick<SharedSlots, 'reads'>;
}

export const getDomainStats = endpoint(statsRoutes.getDomainStats, async (parts: StatsParts, asked) => {
  const { organization, params, query } = asked;
  const { domainId } = params;
  requireOwnDomain(organization, domainId);
  const { organizationId } = organization;
  return replyWith({ domainId }, await readStats(parts, asked, { ...query, organizationId, domainId }));
});

export const getStats = endpoint(statsRoutes.getStats, async (parts: StatsParts, asked) => {
  const { organizationId } = asked.organization;
  const question = { ...asked.query, organizationId, domainId: wholeOrganization };
  return replyWith({ organizationId }, await readStats(parts, asked, question));
});

interface Question extends z.infer<typeof organizationStatsQuery> {
  organizationId: string;
  /** '' for the whole organization */
  domainId: string;
}

interface Found {
  headers: Record<string, string>;
  /** undefined if the client's copy is current */
  stats: Omit<DomainStats, 'domainId'> | undefined;
}

const replyWith = <Owner extends object>(owner: Owner, { headers, stats }: Found) =>
  stats ? { headers, body: { ...owner, ...stats } } : { status: 304, headers, body: null };

type Conditions = Pick<Asked<Route>, 'workIn' | 'ifNoneMatch'>;

function readStats(parts: StatsParts, { workIn, ifNoneMatch }: Conditions, question: Question): Promise<Found> {
  const { interval, by } = question;
  // a request with `by` already has one of the slots for reads
  const inSlot: InSlot = (work) => workIn(parts.slots.reads, work);
  if (interval !== undefined) return readSeries(parts, { ...question, interval }, inSlot);
  if (by === undefined) return readSums(parts, question, inSlot);
  return readGroups(parts, { ...question, by }, ifNoneMatch);
}

async function readSeries(
  { counters, facets }: StatsParts,
  question: Question & { interval: 'day' | 'month' },
  inSlot: InSlot,
): Promise<Found> {
  const { from, to, interval } = question;
  const spans = interval === 'day' ? [{ from, to }] : cover(from, to);
  const [{ source, counts }, found] = await Promise.all([
    counters.read({ ...ownerOf(question), spans }, inSlot),
    facets.readIfQuick({ ...sourcesIn(question, spans), isByPeriod: true }, inSlot),
  ]);
  const series = seriesOf[interval](from, to, counts, found && bySource(found));
  const sums = sumOf(counts.values());
  return {
    headers: { 'X-Stats-Source': source },
    stats: { ...sumsOf(question, sums), ...(found && ratesBeside(sums, found)), series },
  };
}

async function readSums({ counters, facets }: StatsParts, question: Question, inSlot: InSlot): Promise<Found> {
  const spans = cover(question.from, question.to);
  const [{ source, counts }, found] = await Promise.all([
    counters.sum({ ...ownerOf(question), spans }, inSlot),
    facets.readIfQuick(sourcesIn(question, spans), inSlot),
  ]);
  return {
    headers: { 'X-Stats-Source': source },
    stats: { ...sumsOf(question, counts), ...(found && ratesBeside(counts, found)) },
  };
}

async function readGroups(
  { counters, facets }: StatsParts,
  question: Question & { by: OrganizationDimension },
  ifNoneMatch: Conditions['ifNoneMatch'],
): Promise<Found> {
  const wanted = { ...ownerOf(question), spans: cover(question.from, question.to) };
  const { source, counts } = await counters.sum(wanted);
  const through = await facets.through();
  const headers = { 'X-Stats-Source': source, ETag: hashedTag([question, through, counts]) };
  if (ifNoneMatch?.(headers.ETag)) return { headers, stats: undefined };
  const { by } = question;
  const found = await facets.read({ ...wanted, dimensions: [by, 'source', 'crawlers'] }, through);
  const groups = { ...groupedFigures(by, found), through: through.at?.toISOString() ?? null };
  return { headers, stats: { ...sumsOf(question, counts), ...groups } };
}

const sumsOf = ({ from, to }: Question, breakdown: Breakdown) => ({
  from,
  to,
  total: totalOf(breakdown),
  breakdown,
});

const ownerOf = ({ organizationId, domainId }: Question) => ({ organizationId, domainId });

const sourcesIn = (question: Question, spans: Span[]): FacetQuestion => ({
  ...ownerOf(question),
  dimensions: ['source', 'crawlers'],
  spans,
});

const seriesOf = { day: byDay, month: byMonth };

function byDay(from: string, to: string, counts: Map<string, Breakdown>, bySource: Facet[] | undefined) {
  const rates = ratesIn(bySource, (period) => period);
  return daysBetween(from, to).map((date) => ({ date, ...withTotal(counts.get(date)), ...rates(date) }));
}

function byMonth(from: string, to: string, counts: Map<string, Breakdown>, bySource: Facet[] | undefined) {
  const months = new Map(monthsBetween(from, to).map((month) => [month, emptyBreakdown()]));
  for (const [period, each] of counts) addBreakdown(months.get(monthOfDay(period)) ?? emptyBreakdown(), each);
  const rates = ratesIn(bySource, monthOfDay);
  return Array.from(months, ([month, each]) => ({ month, ...withTotal(each), ...rates(month) }));
}

/** Rates of each bucket; undefined without facets. */
function ratesIn(bySource: Facet[] | undefined, bucketOf: (period: string) => string) {
  const facets = bySource && groupBy(bySource, ({ period }) => bucketOf(period));
  return (bucket: string) => facets && choiceFigures(facets.get(bucket) ?? []);
}
