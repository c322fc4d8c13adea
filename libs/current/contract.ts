/** What a visitor allows now, for a site's own servers. */
import { z } from 'zod';
import * as examples from '#libs/base/terms/example-names';
import { domainPath } from '#libs/base/terms/parameters';
import { nullable, time } from '#libs/base/terms/response-fields';
import { decision, models, sources } from '#libs/base/terms/terms';
import { visitorId } from '#libs/record/contract';

/** in one request */
export const mostVisitors = 200;

export const currentPath = domainPath.extend({ visitorId: visitorId.meta({ example: examples.visitorId }) });

export const currentBody = z
  .strictObject({ visitorIds: z.array(visitorId).min(1).max(mostVisitors) })
  .meta({ id: 'CurrentBody' });

const reasons = ['none', 'policy_changed', 'expired'] as const;

const current = z.object({
  domainId: z.string(),
  visitorId: z.string(),
  recordId: nullable.meta({ description: 'of the newest record; null if there is none' }),
  decision: decision.nullable(),
  preferences: z.record(z.string(), z.boolean()).meta({
    description: 'what is allowed: while `valid` is false, and after a refusal, nothing but `necessary` is true',
  }),
  others: z.boolean().meta({ description: 'whether categories that `preferences` does not name are allowed' }),
  decidedAt: time.nullable(),
  source: z.enum(sources).nullable(),
  policyVersion: nullable,
  model: z.enum(models).nullable(),
  validUntil: time.nullable().meta({ description: 'null: it does not expire' }),
  valid: z.boolean(),
  reason: z.enum(reasons).nullable().meta({ description: 'why `valid` is false' }),
});
export type Current = z.infer<typeof current>;

const asOf = time.nullable().meta({
  description: 'nothing acknowledged before this time is missing; null while Redis is unavailable',
});

export const currentOfOne = current.extend({ asOf }).meta({ id: 'Current' });
export const currentOfMany = z.object({ asOf, current: z.array(current) }).meta({ id: 'CurrentOfMany' });
export type CurrentOfOne = z.infer<typeof currentOfOne>;
export type CurrentOfMany = z.infer<typeof currentOfMany>;
