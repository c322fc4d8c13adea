/** Statistics as the endpoints answer them: the counters, and with `by` what decisions have in common. */
import { z } from 'zod';
import { count, day, month, nullable, time } from './response-fields.ts';
import { fullRecord, shortRecord } from './responses.ts';

const counts = { accept_all: count, reject_all: count, custom: count, withdraw: count };
const breakdown = z.object(counts);
const period = z.object({ from: day, to: day });

const share = z.number().min(0).max(1).nullable();
const optInRate = share.meta({
  description:
    'opt-ins ÷ choices; null without choices. Choices: `accept_all`, `reject_all` and `custom` from `banner`, ' +
    '`preferences` and `gpc`. Opt-ins: of these `accept_all`, and `custom` that allows a category besides `necessary`',
});
const displays = count.meta({ description: 'how often a banner was shown; only where any was' });
const noChoiceRate = share.meta({
  description: '1 − choices from `banner` ÷ displays, at least 0; only where there are displays',
});

const group = z.object({
  value: nullable.meta({ description: 'null for records without one, and for all others together' }),
  other: z
    .literal(true)
    .optional()
    .meta({ description: 'all values beyond the 200 that have a group of their own, together' }),
  total: count,
  breakdown,
  choices: count.meta({ description: 'what `optInRate` is of' }),
  optInRate,
  displays: displays.optional(),
  noChoiceRate: noChoiceRate.optional(),
});

const categoryGroup = z.object({ ...group.pick({ value: true, other: true }).shape, allowed: count, denied: count });

const stats = {
  from: day,
  to: day,
  total: count,
  breakdown,
  series: z
    .union([
      z.array(z.object({ date: day, total: count, ...counts })),
      z.array(z.object({ month, total: count, ...counts })),
    ])
    .optional(),
  displays: displays.optional(),
  noChoiceRate: noChoiceRate.optional(),
  bots: count.optional().meta({ description: "with `by`: crawlers' decisions, which groups and rates leave out" }),
  optInRate: optInRate.optional(),
  groups: z
    .union([z.array(group), z.array(categoryGroup)])
    .optional()
    .meta({ description: 'with `by`: largest first' }),
  through: time
    .nullable()
    .optional()
    .meta({ description: 'with `by`: until when groups, rates and displays are complete; null before the first time' }),
};

export const domainStats = z.object({ domainId: z.string(), ...stats }).meta({ id: 'DomainStats' });

export const organizationStats = z.object({ organizationId: z.string(), ...stats }).meta({ id: 'OrganizationStats' });

export const orgStats = z
  .object({
    organizationId: z.string(),
    period,
    total: count,
    breakdown,
    daily: z.array(z.object({ date: day, total: count, ...counts })).length(30),
    recordsPeriod: period,
    recordsTotal: count,
    records: z.union([z.array(fullRecord), z.array(shortRecord)]),
    nextCursor: nullable,
  })
  .meta({ id: 'OrgStats' });

export type OrganizationStats = z.infer<typeof organizationStats>;
export type StatsGroup = z.infer<typeof group>;
export type CategoryGroup = z.infer<typeof categoryGroup>;
export type DomainStats = z.infer<typeof domainStats>;
export type OrgStats = z.infer<typeof orgStats>;
