/**
 * How counters are laid out in Redis. One hash per domain and month holds its days, one per domain its months; the whole
 * organization has the same two. The four counts of a counter are one field, `accept_all reject_all custom withdraw`,
 * so that a domain's month stays one small listpack. All keys of an organization share a hash tag, hence a cluster slot.
 */
import { firstDay, isMonth, lastDay, monthOfDay, monthsBetween, type Span } from '#libs/base/terms/calendar';
import { type Breakdown, type Counter, emptyBreakdown } from '#libs/base/terms/terms';

const prefix = (organizationId: string) => `assent:{${organizationId}}`;

/** Holds the run_id of the server whose counters are complete. */
export const readyKey = (organizationId: string): string => `${prefix(organizationId)}:ready`;
/** Holds the nonce of the running fill. */
export const fillKey = (organizationId: string): string => `${prefix(organizationId)}:fill`;
/** The set of the organization's counter keys, so that all can be dropped. */
export const keysKey = (organizationId: string): string => `${prefix(organizationId)}:keys`;

/** The hash of a domain's ('' for the organization's) days in `month`, or, where that is '', of its months. */
export const hashKey = (organizationId: string, domainId: string, month: string): string =>
  month === '' ? `${prefix(organizationId)}:months:${domainId}` : `${prefix(organizationId)}:days:${domainId}:${month}`;

const monthOfHash = (period: string): string => (isMonth(period) ? '' : monthOfDay(period));
export const counterField = (period: string): string => (isMonth(period) ? period : period.slice(8));

/** Where a counter is: its hash, and the field in it. */
export const counterKey = (organizationId: string, domainId: string, period: string): string =>
  hashKey(organizationId, domainId, monthOfHash(period));

/** A part of a hash: its fields from `first` to `last`. */
export interface Fields {
  key: string;
  first: string;
  last: string;
  /** the prefix that makes a field a period */
  before: string;
}

/** The fields that hold the counters of `spans`. */
export const fieldsOf = (organizationId: string, domainId: string, spans: Span[]): Fields[] =>
  spans.flatMap(({ from, to }) => {
    if (isMonth(from)) {
      return [{ key: counterKey(organizationId, domainId, from), first: from, last: to, before: '' }];
    }
    return monthsBetween(from, to).map((month) => ({
      key: counterKey(organizationId, domainId, firstDay(month)),
      first: counterField(month === monthOfDay(from) ? from : firstDay(month)),
      last: counterField(month === monthOfDay(to) ? to : lastDay(month)),
      before: `${month}-`,
    }));
  });

/** The inverse of `hashKey`. */
export function parseKey(organizationId: string, key: string): { domainId: string; month: string } {
  const [kind, domainId = '', month = ''] = key.slice(prefix(organizationId).length + 1).split(':');
  return { domainId, month: kind === 'days' ? month : '' };
}

/** `first field`, then the counts: what the scripts take for a counter. */
export const pack = ({ period, accept_all, reject_all, custom, withdraw }: Counter): string =>
  `${counterField(period)} ${accept_all} ${reject_all} ${custom} ${withdraw}`;

/** The four counts of a field; a malformed one counts as 0, here as in the scripts. */
export function unpack(packed: string): Breakdown {
  if (!/^\d+ \d+ \d+ \d+$/.test(packed)) return emptyBreakdown();
  const [accept_all = 0, reject_all = 0, custom = 0, withdraw = 0] = packed.split(' ').map(Number);
  return { accept_all, reject_all, custom, withdraw };
}
