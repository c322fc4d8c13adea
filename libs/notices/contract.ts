/** Notices: what visitors were shown. Each is a JSON document, stored byte for byte under its SHA-256. */
import { isUtf8 } from 'node:buffer';
import { hash } from 'node:crypto';
import { z } from 'zod';
import * as examples from '#libs/base/terms/example-names';
import { date, domainPath, listQuery } from '#libs/base/terms/parameters';
import { count, nullable, time } from '#libs/base/terms/response-fields';
import { models } from '#libs/base/terms/terms';
import { noticeHash } from '#libs/record/contract';

export const noticeLimits = { bytes: 16 * 1024, levels: 16 };

export interface Notice {
  /** 64 hex digits */
  hash: string;
  document: Uint8Array;
  /** as the document says; null if it says nothing that a list can show */
  language: string | null;
  version: string | null;
}

const named = z.object({
  language: z
    .string()
    .max(35)
    .regex(/^[A-Za-z0-9-]+$/)
    .nullable()
    .catch(null),
  version: z
    .string()
    .max(64)
    .regex(/^[^\0\p{Cs}]+$/u)
    .nullable()
    .catch(null),
});

/** The notice in these bytes, or why they are not one. */
export function readNotice(document: Uint8Array): Notice | { refused: string } {
  if (document.length > noticeLimits.bytes) return { refused: `must have at most ${noticeLimits.bytes} bytes` };
  const value = parse(document);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return { refused: 'must be a JSON object' };
  if (!isWithin(value, noticeLimits.levels)) return { refused: `must have at most ${noticeLimits.levels} levels` };
  return { hash: hash('sha256', document), document, ...named.parse(value) };
}

function parse(document: Uint8Array): unknown {
  try {
    return isUtf8(document) ? JSON.parse(Buffer.from(document).toString()) : undefined;
  } catch {
    return undefined;
  }
}

const isWithin = (value: unknown, levels: number): boolean =>
  typeof value !== 'object' ||
  value === null ||
  (levels > 0 && Object.values(value).every((each) => isWithin(each, levels - 1)));

export const noticePath = domainPath.extend({ hash: noticeHash.meta({ example: examples.noticeHash }) });

export const noticesQuery = listQuery.extend({
  to: date.optional().meta({ description: 'only notices first seen on this UTC day or before' }),
  notice: noticeHash.optional().meta({ description: 'only this notice' }),
});

export const noticePut = z.object({ notice: z.string() }).meta({ id: 'NoticePut' });
export type NoticePut = z.infer<typeof noticePut>;

export const noticesPage = z
  .object({
    notices: z.array(
      z.object({
        notice: z.string().meta({ description: 'SHA-256, 64 hex digits' }),
        language: nullable.meta({ description: "the document's `language`, or null" }),
        version: nullable.meta({ description: "the document's `version`, or null" }),
        variant: nullable.meta({ description: 'the A/B test and its variant, if the widget made the notice; or null' }),
        model: z.enum(models).nullable().meta({
          description: '`opt_out` or `none`, if the widget made the notice for places with that model; or null',
        }),
        firstSeenAt: time,
        records: count.meta({ description: 'how many records ever referred to it; exact except for the last minute' }),
      }),
    ),
    nextCursor: nullable,
  })
  .meta({ id: 'NoticesPage' });
export type NoticesPage = z.infer<typeof noticesPage>;
