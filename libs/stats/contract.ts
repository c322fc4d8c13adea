/** Statistics: counters, plus facets if `by` is given. Also the organization with its usage this month. */
import { z } from 'zod';
import { countDays, monthsBetween } from '#libs/base/terms/calendar';
import { date, inOrder, outOfOrder } from '#libs/base/terms/parameters';
import { count, day, month, nullable, time } from '#libs/base/terms/response-fields';
import { dimensions, organizationDimensions, scopes } from '#libs/base/terms/terms';
import { recordBody } from '#libs/record/contract';

export const counts = { accept_all: count, reject_all: count, custom: count, withdraw: count };
export const breakdown = z.object(counts);

const queryBy = <const Names extends readonly string[]>(names: Names) =>
  z
    .strictObject({
      from: date.meta({ description: 'first UTC day, inclusive' }),
      to: date.meta({ description: 'last UTC day, inclusive' }),
      interval: z
        .enum(['day', 'month'])
        .optional()
        .meta({ description: 'adds `series`: at most 366 days or 120 months' }),
      by: z.enum(names).optional().meta({ description: 'adds `groups`: at most 366 days, and not with `interval`' }),
    })
    .refine(inOrder, outOfOrder)
    .refine(({ from, to, interval }) => interval !== 'day' || countDays(from, to) <= 366, {
      path: ['interval'],
      message: 'day allows at most 366 days',
      when: ({ issues }) => issues.length === 0,
    })
    .refine(({ from, to, interval }) => interval !== 'month' || monthsBetween(from, to).length <= 120, {
      path: ['interval'],
      message: 'month allows at most 120 months',
      when: ({ issues }) => issues.length === 0,
    })
    .refine(({ by, interval }) => by === undefined || interval === undefined, {
      path: ['by'],
      message: 'cannot be combined with `interval`',
    })
    .refine(({ from, to, by }) => by === undefined || countDays(from, to) <= 366, {
      path: ['by'],
      message: 'allows at most 366 days',
      when: ({ issues }) => issues.length === 0,
    });

export const statsQuery = queryBy(dimensions);
export const organizationStatsQuery = queryBy(organizationDimensions);

const share = z.number().min(0).max(1).nullable();
const optInRate = share.meta({
  description:
    'opt-ins ÷ choices; null if there are no choices. Choices: `accept_all`, `reject_all` and `custom` from ' +
    '`banner`, `preferences` and `gpc`, without those with the model `opt_out` or `none`. Opt-ins: those with ' +
    '`accept_all`, or `custom` if it allows a category besides `necessary`',
});
const choices = count.meta({ description: 'the number of choices that `optInRate` is based on' });
const objections = count.optional().meta({
  description:
    '`reject_all`, `custom` and `withdraw` with the model `opt_out` or `none`, which are no choices; left out if there are none',
});
/** A response without `by` leaves these out if Postgres is slow. */
const rates = { choices: choices.optional(), optInRate: optInRate.optional(), objections };
const pending = count.optional().meta({
  description: 'decisions of `total` that `choices` and `optInRate` do not include yet; left out if there are none',
});
const displays = count.meta({ description: 'how often a banner was shown; left out if no display was reported' });
const noChoiceRate = share.meta({
  description: '1 − choices from `banner` ÷ displays, at least 0; left out if there are no displays',
});

const group = z.object({
  value: nullable.meta({
    description: 'null for the group of decisions without a value, and for the group of all other values',
  }),
  other: z.literal(true).optional().meta({
    description: 'the group of all values beyond the 200 that have groups of their own; domains have one each',
  }),
  total: count,
  breakdown,
  choices,
  optInRate,
  objections,
  firstDay: day.optional().meta({
    description:
      'with `by=bannerVersion` and `by=policyVersion`, of one domain: the UTC day on which the value was first counted; ' +
      'left out if that was before `from`',
  }),
  displays: displays.optional(),
  noChoiceRate: noChoiceRate.optional(),
  lastDecisionAt: time.nullable().optional().meta({
    description: "with `by=domain`: when the domain's newest record was decided, whatever the days; null without one",
  }),
});

const categoryGroup = z.object({ ...group.pick({ value: true, other: true }).shape, allowed: count, denied: count });

const stats = {
  from: day,
  to: day,
  total: count,
  breakdown,
  series: z
    .union([
      z.array(z.object({ date: day, total: count, ...counts, ...rates })),
      z.array(z.object({ month, total: count, ...counts, ...rates })),
    ])
    .optional(),
  displays: displays.optional(),
  noChoiceRate: noChoiceRate.optional(),
  bots: count.optional().meta({ description: "with `by`: crawlers' decisions, which groups and rates leave out" }),
  ...rates,
  pending,
  groups: z
    .union([z.array(group), z.array(categoryGroup)])
    .optional()
    .meta({ description: 'with `by`: the groups, largest first' }),
  through: time.nullable().optional().meta({
    description: 'with `by`: the time up to which groups, rates and displays are complete; null if there is none yet',
  }),
};

export const domainStats = z.object({ domainId: z.string(), ...stats }).meta({ id: 'DomainStats' });

export const organizationStats = z.object({ organizationId: z.string(), ...stats }).meta({ id: 'OrganizationStats' });

/** A banner was shown. Displays are counted by these values, and nothing else is stored. */
export const displayBody = recordBody.pick({ bannerVersion: true, variant: true, language: true }).meta({
  id: 'DisplayBody',
  description: 'A display of a banner. A field that is unknown or breaks its rule is left out.',
});
export type DisplayBody = z.infer<typeof displayBody>;

export const organization = z
  .object({
    organizationId: z.string(),
    name: z.string(),
    plan: z.object({ name: z.string(), consentLog: z.boolean(), monthlyRecordLimit: count.nullable() }),
    usage: z.object({
      month,
      used: count.meta({ description: "this month's records, without crawlers'" }),
      bots: count.meta({ description: "this month's records of crawlers, which are not part of `used`" }),
      limit: count.nullable(),
    }),
    domains: z.array(
      z.object({
        domainId: z.string(),
        name: z.string(),
        archivedAt: time.optional().meta({ description: 'only if the domain is archived' }),
      }),
    ),
    scopes: z.array(z.enum(scopes)).meta({ description: 'what this access token may do' }),
  })
  .meta({ id: 'Organization' });
export type Organization = z.infer<typeof organization>;

export type OrganizationStats = z.infer<typeof organizationStats>;
export type StatsGroup = z.infer<typeof group>;
export type CategoryGroup = z.infer<typeof categoryGroup>;
export type DomainStats = z.infer<typeof domainStats>;
export type StatsQuery = z.infer<typeof statsQuery>;
