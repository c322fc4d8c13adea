/** The words of the contract, each defined once. API, code, columns and metrics use them. */
import { z } from 'zod';

export const decisions = ['accept_all', 'reject_all', 'custom', 'withdraw'] as const;
export type Decision = (typeof decisions)[number];
export const decision = z.enum(decisions);

export const sources = ['banner', 'preferences', 'gpc', 'api', 'import'] as const;

/**
 * What the law of the visitor's place requires: consent first (`opt_in`), a way to object (`opt_out`), or nothing (`none`).
 * Opt-in rates leave out decisions under `opt_out` and `none`.
 */
export const models = ['opt_in', 'opt_out', 'none'] as const;

export const exportFormats = ['ndjson', 'csv'] as const;
export type ExportFormat = (typeof exportFormats)[number];

/** Decisions of each kind: the value of every counter. */
export type Breakdown = Record<Decision, number>;

export const emptyBreakdown = (): Breakdown => ({ accept_all: 0, reject_all: 0, custom: 0, withdraw: 0 });

export const addBreakdown = (to: Breakdown, from: Breakdown): Breakdown => {
  for (const name of decisions) to[name] += from[name];
  return to;
};

export function sumOf(counts: Iterable<Breakdown>): Breakdown {
  const sum = emptyBreakdown();
  for (const each of counts) addBreakdown(sum, each);
  return sum;
}

/** The counts with their total; without decisions all are 0. */
export const withTotal = (counts: Breakdown = emptyBreakdown()): Breakdown & { total: number } => ({
  total: totalOf(counts),
  ...counts,
});

export const totalOf = (counts: Breakdown): number =>
  counts.accept_all + counts.reject_all + counts.custom + counts.withdraw;

/** Decisions of a domain in one UTC day or month; of a whole organization if `domainId` is ''. */
export interface Counter extends Breakdown {
  organizationId: string;
  domainId: string;
  /** `YYYY-MM-DD` or `YYYY-MM` */
  period: string;
}

/** A hash in Redis with counters of an organization, in its own format, so that millions can be copied. */
export interface PackedCounters {
  domainId: string;
  /** `YYYY-MM` of its days; '' if it contains months */
  month: string;
  /** `01 5 3 2 1;02 0 4 0 0`: the day (or `YYYY-MM`) and its counts in the order of `decisions` */
  counters: string;
}

/** The `domainId` of counters at organization level. */
export const wholeOrganization = '';

/** What an access token may do. No scope includes another. */
export const scopes = ['read', 'privacy', 'import', 'manage', 'publish', 'current'] as const;
export type Scope = (typeof scopes)[number];

export const scopesAmong = (words: readonly unknown[]): Scope[] => scopes.filter((scope) => words.includes(scope));

/** What records can be grouped by; `category` groups by allowed and denied categories. */
export const dimensions = [
  'country',
  'language',
  'device',
  'browser',
  'source',
  'bannerVersion',
  'policyVersion',
  'variant',
  'region',
  'model',
  'category',
] as const;
export type Dimension = (typeof dimensions)[number];

/** What the records of an organization can be grouped by. */
export const organizationDimensions = [...dimensions, 'domain'] as const;
export type OrganizationDimension = (typeof organizationDimensions)[number];

/** Dimensions that displays have, too. */
export const displayDimensions: readonly OrganizationDimension[] = ['bannerVersion', 'variant', 'language', 'domain'];

export const domainIdPattern = /^[A-Za-z0-9_-]{1,64}$/;

/** How far a record's time may be from the server's clock, in milliseconds. */
export const acceptedPast = 30 * 24 * 60 * 60 * 1000;
export const acceptedAhead = 5 * 60 * 1000;
