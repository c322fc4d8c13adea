/** A domain's banner: the draft of its settings, the versions that were published, and checks of the site. */
import { z } from 'zod';
import { domainPath, wholeNumber } from '#libs/base/terms/parameters';
import { count, nullable, time } from '#libs/base/terms/response-fields';
import { models } from '#libs/base/terms/terms';
import { checkSteps, reportedTypes } from '#libs/widget/site-check';

/** bytes */
export const largestDraft = 64 * 1024;
export const mostVersions = 1_000;

/** Any JSON, which `checkSettings` checks: a schema would silently drop names such as `__proto__`. */
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

/** bytes of the stored JSON */
export const largestCheck = 64 * 1024;
/** per domain */
export const mostChecks = 100;

/** Names come from the checked page and can be of any length; the check cuts them before it sends them. */
const name = z.string().min(1).max(256);
const names = z.array(name).max(500);
const ticket = z.string().max(1_000).meta({ description: 'from `check-ticket`' });
const host = z.string().min(1).max(253);
const known = z
  .object({ owner: z.string(), kind: z.string().meta({ description: 'such as `ad`, `analytics`, `cdn`' }) })
  .nullable()
  .meta({ description: 'by the list of third-party-web; null: unknown' });

const step = z.strictObject({
  step: z.enum(checkSteps),
  pages: count,
  allowed: names.meta({ description: 'categories that were allowed' }),
  grants: z.array(z.enum(reportedTypes)).max(2).meta({ description: "Google's consent types that these grant" }),
  hosts: z.array(z.strictObject({ host, requests: count })).max(500),
  moreHosts: count,
  cookies: z
    .array(z.strictObject({ name, category: name.nullable().meta({ description: 'null: in no list of the site' }) }))
    .max(500),
  storage: names.meta({ description: 'keys of localStorage and sessionStorage' }),
  moreNames: count,
  ran: z
    .array(z.strictObject({ element: name, categories: name }))
    .max(100)
    .meta({ description: 'elements with `data-assent` that ran although their category was not allowed' }),
  held: count.meta({ description: 'elements with `data-assent` that waited' }),
  google: z.array(z.strictObject({ host, gcs: z.string().max(16), gcd: z.string().max(64), requests: count })).max(100),
  commands: z.array(z.array(z.enum(['default', 'config', 'event', 'update'])).max(50)).max(20),
  hasContainer: z.boolean(),
  bannerMs: count.nullable().meta({ description: 'milliseconds until the banner was seen; null: it was not' }),
  failed: z.array(host).max(100).meta({ description: 'hosts whose scripts, images or frames did not load' }),
  isIncomplete: z.boolean().meta({ description: 'there were more requests than the browser kept' }),
  hasWorker: z.boolean().meta({ description: 'a service worker answers requests' }),
});

const checked = z.strictObject({
  origin: z.string().max(300).meta({ description: 'the site as the browser named it' }),
  model: z.enum(models).nullable().meta({ description: 'null: the site has no regions' }),
  gpc: z.boolean().meta({ description: 'whether the browser sent Global Privacy Control' }),
});

export const hostsBody = z.strictObject({ ticket, hosts: z.array(host).max(500) }).meta({ id: 'CheckHostsBody' });
export const hostsAnswer = z.object({ hosts: z.array(z.object({ host, known })) }).meta({ id: 'CheckHosts' });
export const checkBody = checked.extend({ ticket, steps: z.array(step).min(1).max(3) }).meta({ id: 'SiteCheckBody' });
export type CheckResult = Omit<z.infer<typeof checkBody>, 'ticket'>;

const storedCheck = checked.extend({
  steps: z.array(step.extend({ hosts: z.array(z.object({ host, requests: count, known })) })),
});
export type StoredCheck = z.infer<typeof storedCheck>;

export const checkTicket = z.object({ ticket, expiresAt: time }).meta({ id: 'CheckTicket' });
export const listedCheck = z
  .object({
    checkId: z.string(),
    checkedAt: time,
    by: z.string(),
    bannerVersion: number.nullable().meta({ description: 'the version that was live then' }),
    sha256: z.string().meta({ description: 'of the stored result, in hex; also in the act `site.check`' }),
  })
  .meta({ id: 'ListedSiteCheck' });
export const shownCheck = listedCheck.extend({ result: storedCheck }).meta({ id: 'SiteCheck' });
export const checksPage = z
  .object({ checks: z.array(listedCheck), nextCursor: nullable })
  .meta({ id: 'SiteChecksPage' });
export const checkPath = domainPath.extend({
  checkId: z.string().regex(/^chk_[A-Za-z0-9]{1,64}$/, 'must be chk_…'),
});
export type CheckTicket = z.infer<typeof checkTicket>;
export type ListedCheck = z.infer<typeof listedCheck>;
export type ShownCheck = z.infer<typeof shownCheck>;
export type ChecksPage = z.infer<typeof checksPage>;
