/** A visitor: access to what is stored, and erasure. */
import { z } from 'zod';
import * as examples from '#libs/base/terms/example-names';
import { count, nullable, time } from '#libs/base/terms/response-fields';
import { decision } from '#libs/base/terms/terms';
import { proofBundle } from '#libs/proof/contract';
import { fullRecord, visitorId } from '#libs/record/contract';

/** A visitor's id in a body instead of the path. */
export const visitorBody = z.strictObject({ visitorId }).meta({ id: 'VisitorBody' });

export const visitorPath = z.object({ visitorId: visitorId.meta({ example: examples.visitorId }) });

export const erasurePath = z.object({
  erasureId: z
    .string()
    .regex(/^ers_[A-Za-z0-9]{1,64}$/, 'must be ers_…')
    .meta({ example: examples.erasureId }),
});

export const visitor = z
  .object({
    visitorId: z.string(),
    generatedAt: time,
    current: z
      .record(z.string(), z.object({ decision, preferences: fullRecord.shape.preferences, decidedAt: time }))
      .meta({ description: 'domain → its newest decision' }),
    records: z.array(fullRecord).meta({ description: 'newest first' }),
    notices: z.record(z.string(), z.string()).meta({ description: 'hash → what was shown, byte for byte' }),
    proofs: z.record(z.string(), z.string()).meta({
      description:
        'sealed record → its C2SP tlog-proof. Where records of several domains have one id, all but the first that is ' +
        'listed are named `domainId/recordId`',
    }),
    bundles: z.record(z.string(), proofBundle).meta({
      description: 'sealed record, named as in `proofs` → its bundle, which proves all of its fields',
    }),
    verifierKeys: z.record(z.string(), z.array(z.string())).meta({ description: 'domain → the keys of its logs' }),
  })
  .meta({ id: 'Visitor' });
export type Visitor = z.infer<typeof visitor>;

export const erasure = z
  .object({
    erasureId: z.string(),
    visitorId: nullable.meta({
      description: 'null when you read an erasure that is done: nothing is left of the visitor',
    }),
    state: z.enum(['running', 'done']),
    records: count.meta({ description: 'the number of stored records that were erased' }),
    erasedAt: time.nullable(),
    requestedAt: time,
    actor: nullable.meta({ description: 'who requested the erasure: the `sub` of a token, or the operator' }),
  })
  .meta({ id: 'Erasure' });
export type Erasure = z.infer<typeof erasure>;

const place = { log: count, position: count };
export const erasureDetails = erasure
  .extend({
    domains: z
      .record(
        z.string(),
        z.object({
          records: count,
          positions: z
            .array(count)
            .meta({ description: 'positions of the erased records, once their erasure is sealed' }),
          entries: z.array(z.object({ ...place, erased: z.object(place).nullable() })).meta({
            description:
              'where each erasure is sealed; `erased` is the place of its record, or null once that has expired',
          }),
        }),
      )
      .meta({ description: 'domain → what was erased; at most the first 10,000 entries of an erasure' }),
  })
  .meta({ id: 'ErasureDetails' });
export type ErasureDetails = z.infer<typeof erasureDetails>;

export const erasuresPage = z.object({ erasures: z.array(erasure), nextCursor: nullable }).meta({ id: 'ErasuresPage' });
export type ErasuresPage = z.infer<typeof erasuresPage>;
