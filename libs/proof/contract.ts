/** Proofs of the sealed log. */
import { z } from 'zod';
import { domainPath, outOfOrder, wholeNumber } from '#libs/base/terms/parameters';
import { count, nullable } from '#libs/base/terms/response-fields';
import { fullRecord, logNumber } from '#libs/record/contract';

const base64 = z.string().meta({ description: 'base64' });
const opening = z.object({
  salt: z.string().meta({ description: '32 hex digits' }),
  text: z.string().meta({ description: 'exactly the text that the entry commits to' }),
});

export const proofBundle = z
  .object({
    record: fullRecord,
    entry: z.string().meta({ description: "the log's entry: exactly the text whose hash is the leaf" }),
    opening: z.object({
      circumstances: opening,
      private: opening.nullable().meta({ description: 'null once the personal fields are erased' }),
    }),
    log: z.number().int().min(1),
    position: count,
    proof: z.array(base64).meta({ description: "base64, the leaf's sibling first" }),
    checkpoint: z.string().meta({ description: 'the signed note' }),
    verifierKeys: z.array(z.string()).meta({ description: 'every key that ever signed for this log, newest first' }),
    notice: nullable.meta({ description: 'what the visitor was shown, byte for byte; or null' }),
    timestamp: z
      .object({ checkpoint: z.string(), index: count, size: count, path: z.array(base64), token: base64 })
      .nullable()
      .meta({
        description: 'the time-stamp of a time-stamping authority for a checkpoint that covers the entry; or null',
      }),
  })
  .meta({ id: 'ProofBundle' });
export type ProofBundle = z.infer<typeof proofBundle>;

/** The position of an entry. */
export const entryPath = domainPath.extend({
  position: wholeNumber(0, 999_999_999_999_999).meta({
    description: "the entry's place in the log, from 0",
    example: 6,
  }),
});

const size = wholeNumber(1, 999_999_999_999_999);

export const consistencyQuery = z
  .strictObject({
    from: size.meta({ description: "the earlier checkpoint's size" }),
    to: size.meta({ description: "the later checkpoint's size" }),
    log: logNumber,
  })
  .refine(({ from, to }) => from <= to, { ...outOfOrder, when: ({ issues }) => issues.length === 0 });

export const consistency = z
  .object({ log: z.number().int().min(1), from: count, to: count, proof: z.array(base64) })
  .meta({ id: 'Consistency' });
export type Consistency = z.infer<typeof consistency>;
