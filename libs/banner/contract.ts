/** A domain's banner: the draft of its settings, and the versions that were published. */
import { z } from 'zod';
import { domainPath, wholeNumber } from '#libs/base/terms/parameters';
import { nullable, time } from '#libs/base/terms/response-fields';

/** bytes */
export const largestDraft = 64 * 1024;
export const mostVersions = 1_000;

/** Any JSON: `checkSettings` says what is wrong with it. A schema would drop names such as `__proto__` silently. */
export const settings = z.unknown().meta({
  id: 'BannerSettings',
  description:
    'What `window.assentConfig` may contain, without `domain`, `key`, `api` and `bannerVersion`; `{}`: defaults.',
  override: { type: 'object', additionalProperties: true },
});

export const publishBody = z
  .strictObject({
    note: z
      .string()
      .max(500)
      .refine((text) => !/[\0\p{Cs}]/u.test(text), 'must not contain NUL or half a surrogate pair')
      .nullable()
      .optional()
      .meta({ description: 'what was changed, for colleagues' }),
    version: z
      .int()
      .min(1)
      .max(mostVersions)
      .nullable()
      .optional()
      .meta({ description: 'an earlier version to publish again; default: the draft' }),
  })
  .meta({ id: 'BannerPublishBody' });
export type PublishBody = z.infer<typeof publishBody>;

export const versionPath = domainPath.extend({ version: wholeNumber(1, mostVersions).meta({ example: 3 }) });

const number = z.number().int().min(1);

const publication = z.object({
  version: number.meta({ description: 'counts from 1 in each domain; the `bannerVersion` of its records' }),
  publishedAt: time,
  by: z.string(),
  note: nullable,
  restored: number.nullable().meta({ description: 'the earlier version that this one repeats' }),
  asksAgain: z.boolean().meta({
    description:
      'whether visitors are asked again: policy version or optional categories differ from the version before',
  }),
});

export const bannerVersion = publication.meta({ id: 'BannerVersion' });
export const shownVersion = publication.extend({ settings }).meta({ id: 'ShownBannerVersion' });
export const versionsPage = z
  .object({ versions: z.array(bannerVersion), nextCursor: nullable })
  .meta({ id: 'BannerVersionsPage' });

export type BannerVersion = z.infer<typeof bannerVersion>;
export type ShownVersion = z.infer<typeof shownVersion>;
export type VersionsPage = z.infer<typeof versionsPage>;
