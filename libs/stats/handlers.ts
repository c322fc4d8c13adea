/**
 * The counters over any range of days; with `by` also what the
 * decisions have in common, which is complete until `through`.
 */
import { hash } from 'node:crypto';
import type { z } from 'zod';
import { groupBy } from '#libs/base/group-by';
import type { Context, Middleware } from '#libs/base/http/context';
import { hasTag } from '#libs/base/http/etag';
import { guard } from '#libs/base/http/guard';
import type { InPlace } from '#libs/base/places';
import { cover, daysBetween, monthOfDay, monthsBetween, type Span } from '#libs/base/terms/calendar';
import {
  addBreakdown,
  type Breakdown,
  type Dimension,
  emptyBreakdown,
  sumOf,
  totalOf,
  wholeOrganization,
  withTotal,
} from '#libs/base/terms/terms';
import { organizationIn } from '#libs/tenants/bearer';
import { workInPlace } from '#libs/tenants/request-places';
import { requireOwnDomain } from '#libs/tenants/requirements';
import type { SharedPlaces } from '#libs/tenants/shared-places';
import type { DomainStats, OrganizationStats, statsQuery } from './contract.ts';
import type { CounterReader, StatsSource } from './counter-reader.ts';
import type { Facet, FacetQuestion, FacetReader } from './facets.ts';
import { choiceFigures, groupedFigures, ratesOf } from './groups.ts';
import { statsRoutes } from './routes.ts';

interface StatsParts {
  counters: CounterReader;
  facets: FacetReader;
  places: Pick<SharedPlaces, 'reads'>;
}

export const getDomainStats = (parts: StatsParts): Middleware =>
  guard(statsRoutes.getDomainStats, async (ctx, { params: { domainId }, query }) => {
    const { organizationId } = requireOwn(ctx, domainId);
    const stats = await readStats(ctx, parts, { organizationId, domainId, ...query });
    if (stats) ctx.body = { domainId, ...stats } satisfies DomainStats;
  });

export const getStats = (parts: StatsParts): Middleware =>
  guard(statsRoutes.getStats, async (ctx, { query }) => {
    const { organizationId } = organizationIn(ctx);
    const stats = await readStats(ctx, parts, { organizationId, domainId: wholeOrganization, ...query });
    if (stats) ctx.body = { organizationId, ...stats } satisfies OrganizationStats;
  });

function requireOwn(ctx: Context, domainId: string) {
  const organization = organizationIn(ctx);
  requireOwnDomain(organization, domainId);
  return organization;
}

interface Question extends z.infer<typeof statsQuery> {
  organizationId: string;
  /** '' for the whole organization */
  domainId: string;
}

type Stats = Omit<DomainStats, 'domainId'>;

/** Undefined where the client has the answer already. */
async function readStats(
  ctx: Context,
  { counters, facets, places }: StatsParts,
  question: Question,
): Promise<Stats | undefined> {
  const { from, to, interval, by } = question;
  const answer = (source: StatsSource, breakdown: Breakdown) => {
    ctx.set('X-Stats-Source', source);
    return { from, to, total: totalOf(breakdown), breakdown };
  };
  // what is asked by a dimension has its place among the reads already
  const inPlace: InPlace = (work) => workInPlace(places.reads, ctx, work);
  if (interval !== undefined) {
    const spans = interval === 'day' ? [{ from, to }] : cover(from, to);
    const [{ source, counts }, bySource] = await Promise.all([
      counters.read({ ...ownerOf(question), spans }, inPlace),
      facets.readIfQuick({ ...sourcesIn(question, spans), isByPeriod: true }, inPlace),
    ]);
    const series = seriesOf[interval](from, to, counts, bySource);
    return { ...answer(source, sumOf(counts.values())), ...(bySource && ratesOf(bySource)), series };
  }
  const wanted = { ...ownerOf(question), spans: cover(from, to) };
  if (by === undefined) {
    const [{ source, counts }, bySource] = await Promise.all([
      counters.sum(wanted, inPlace),
      facets.readIfQuick(sourcesIn(question, wanted.spans), inPlace),
    ]);
    return { ...answer(source, counts), ...(bySource && ratesOf(bySource)) };
  }
  const { source, counts } = await counters.sum(wanted);
  const whole = answer(source, counts);
  const grouped = await readGroups(ctx, facets, { ...question, by }, counts);
  return grouped && { ...whole, ...grouped };
}

const ownerOf = ({ organizationId, domainId }: Question) => ({ organizationId, domainId });

const sourcesIn = (question: Question, spans: Span[]): FacetQuestion => ({
  ...ownerOf(question),
  dimensions: ['source'],
  spans,
});

async function readGroups(
  ctx: Context,
  facets: FacetReader,
  question: Question & { by: Dimension },
  counts: Breakdown,
): Promise<Partial<Stats> | undefined> {
  const through = await facets.through();
  const { by } = question;
  const seen = [question, through, counts];
  const tag = `"${hash('sha256', JSON.stringify(seen), 'base64url').slice(0, 22)}"`;
  ctx.set('ETag', tag);
  // not `ctx.fresh`: browsers' scripts that send the header themselves send `no-cache` as well
  if (hasTag(ctx, tag)) {
    ctx.status = 304;
    return undefined;
  }
  const spans = cover(question.from, question.to);
  const found = await facets.read({ ...ownerOf(question), dimensions: [by, 'source', 'crawlers'], spans }, through);
  return { ...groupedFigures(by, found), through: through.at?.toISOString() ?? null };
}

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

/** Of each bucket; nothing where facets were not at hand. */
function ratesIn(bySource: Facet[] | undefined, bucketOf: (period: string) => string) {
  const facets = bySource && groupBy(bySource, ({ period }) => bucketOf(period));
  return (bucket: string) => facets && choiceFigures(facets.get(bucket) ?? []);
}
