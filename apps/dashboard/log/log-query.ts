/** The log's filters and page, converted from and to an address, and to a request. */
import { isDate } from '#libs/base/terms/calendar';
import { isDecision } from '../data/decisions.ts';

export const pageSizes = [25, 50, 100, 200] as const;
const defaultSize = 50;

export interface LogQuery {
  page: number;
  limit: number;
  decision: string | undefined;
  from: string | undefined;
  to: string | undefined;
  visitorId: string | undefined;
  bot: string | undefined;
}

/** Ignores invalid values. `visitorId`: from the fragment. Addresses of earlier releases have it in the query. */
export function logQueryIn(query: URLSearchParams, visitorId = query.get('visitorId')): LogQuery {
  const wholeNumber = (name: string) => (/^\d{1,9}$/.test(query.get(name) ?? '') ? Number(query.get(name)) : undefined);
  const date = (name: string) => (isDate(query.get(name) ?? '') ? (query.get(name) ?? undefined) : undefined);
  const decision = query.get('decision');
  const bot = query.get('bot');
  const limit = wholeNumber('limit') ?? defaultSize;
  return {
    page: Math.max(1, wholeNumber('page') ?? 1),
    limit: pageSizes.find((size) => size === limit) ?? defaultSize,
    decision: isDecision(decision) ? decision : undefined,
    from: date('from'),
    to: date('to'),
    visitorId: visitorId?.slice(0, 128) || undefined,
    bot: bot === 'true' || bot === 'false' ? bot : undefined,
  };
}

/** Omits defaults, and the visitor's id, which is in the fragment. */
export const toAddressQuery = ({ page, limit, visitorId: _, ...filters }: LogQuery) => ({
  ...filters,
  limit: limit === defaultSize ? undefined : limit,
  page: page === 1 ? undefined : page,
});

/** The whole log. */
export const unfiltered = logQueryIn(new URLSearchParams());

export const hasFilters = ({ decision, from, to, visitorId, bot }: LogQuery): boolean =>
  [decision, from, to, visitorId, bot].some((each) => each !== undefined);
