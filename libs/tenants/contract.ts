/** What an organization manages (domains, keys), who did what in it, and how people sign in. */

import { z } from 'zod';
import * as examples from '#libs/base/terms/example-names';
import { isOrigin, originRule } from '#libs/base/terms/origin';
import { date, domainPath, inOrder, listQuery, outOfOrder } from '#libs/base/terms/parameters';
import { count, nullable, time } from '#libs/base/terms/response-fields';
import { domainIdPattern } from '#libs/base/terms/terms';

const domainId = z.string().regex(domainIdPattern);
const nextCursor = nullable;

/** Control characters, and characters that change the direction of text. */
const misleading = /[\p{Cc}\p{Cs}\u2028-\u202e\u2066-\u2069]/u;

export const name = z
  .string()
  .refine((text) => /\S/.test(text) && [...text].length <= 200, 'must have 1 to 200 characters, not only spaces')
  .refine((text) => !misleading.test(text), 'must not have control characters')
  .meta({ override: { type: 'string', minLength: 1, maxLength: 400 } });

export const origins = z
  .array(z.string().max(300).refine(isOrigin, originRule))
  .max(100, 'must be at most 100')
  .refine((list) => new Set(list).size === list.length, 'must not name one twice')
  .meta({ description: 'the origins that may record; if there are none, any may' });

/** What decides whether a visitor's permission is still valid. Publishing a banner sets both. */
const validity = {
  validMonths: z
    .int()
    .min(1)
    .max(120)
    .nullable()
    .optional()
    .meta({ description: 'calendar months for which a permission is valid; null: it does not expire' }),
  policyVersion: z
    .string()
    .min(1)
    .max(64)
    .refine((text) => !/[\0\p{Cs}]/u.test(text), 'must be well-formed Unicode without NUL')
    .nullable()
    .optional()
    .meta({ description: 'the policy under which permissions must be given; null: any' }),
};

export const domainBody = z.strictObject({ name, origins: origins.optional(), ...validity }).meta({ id: 'DomainBody' });
export type DomainBody = z.infer<typeof domainBody>;

export const domainChange = z
  .strictObject({
    name: name.optional(),
    origins: origins.optional(),
    ...validity,
    archivedAt: z.null().optional().meta({ description: 'null restores the domain; it needs new keys' }),
  })
  .meta({ id: 'DomainChange' });
export type DomainChange = z.infer<typeof domainChange>;

export const managedDomain = z
  .object({
    domainId,
    name: z.string(),
    origins: z.array(z.string()),
    validMonths: count.nullable(),
    policyVersion: nullable,
    createdAt: time,
    archivedAt: time.nullable().meta({ description: 'when the domain was archived, and recording ended' }),
  })
  .meta({ id: 'Domain' });
export type ManagedDomain = z.infer<typeof managedDomain>;

export const shownDomain = managedDomain
  .extend({
    refusedOrigins: z.array(z.object({ origin: z.string(), refusedAt: time })).meta({
      description: 'origins that are not on the list and tried to record in the last 30 days; newest first, at most 10',
    }),
    ignoredFields: z
      .array(
        z.object({
          field: z.string().meta({ description: 'such as `tcString`, or `metadata.shop` for one entry of a map' }),
          why: z.string().meta({ description: 'the rule that its value breaks' }),
          type: z.string().meta({ description: '`string`, `number`, `boolean`, `list` or `map`' }),
          length: count.nullable().meta({ description: 'characters of a string, entries of a list or map' }),
          ignoredAt: time,
        }),
      )
      .meta({
        description:
          'fields that were left out of records and displays in the last 30 days, and why, but never their values; ' +
          'newest first, at most 20',
      }),
  })
  .meta({ id: 'ShownDomain' });
export type ShownDomain = z.infer<typeof shownDomain>;
export type RefusedOrigin = ShownDomain['refusedOrigins'][number];
export type IgnoredField = ShownDomain['ignoredFields'][number];

const listedDomain = managedDomain.extend({ activeKeys: count.meta({ description: 'keys that are not revoked' }) });
export type ListedDomain = z.infer<typeof listedDomain>;

export const domainsPage = z.object({ domains: z.array(listedDomain), nextCursor }).meta({ id: 'DomainsPage' });
export type DomainsPage = z.infer<typeof domainsPage>;

/** A key is identified by its visible prefix. */
export const keyPath = domainPath.extend({
  prefix: z
    .string()
    .regex(/^ak_[A-Za-z0-9_-]{8}$/, 'must be the beginning of a key, `ak_` and 8 characters')
    .meta({ example: examples.keyPrefix }),
});

export const key = z
  .object({
    prefix: z.string(),
    createdAt: time,
    lastUsedAt: time.nullable().meta({ description: 'accurate to within a minute' }),
    revokedAt: time.nullable(),
    isOfPage: z.boolean().meta({ description: 'whether it was created for the published banner, which contains it' }),
  })
  .meta({ id: 'Key' });
export type Key = z.infer<typeof key>;

export const madeKey = key
  .extend({ apiKey: z.string().meta({ description: 'the complete key, shown only this once' }) })
  .meta({ id: 'MadeKey' });
export type MadeKey = z.infer<typeof madeKey>;

export const keysPage = z.object({ keys: z.array(key), nextCursor }).meta({ id: 'KeysPage' });
export type KeysPage = z.infer<typeof keysPage>;

const word = z.string().refine((text) => /^[^\0\p{Cs}]{1,256}$/u.test(text), 'must have 1 to 256 characters');

export const actKinds = ['changes', 'reads'] as const;

export const actsQuery = listQuery
  .extend({
    act: word.optional().meta({ description: 'only acts with this name, such as `log.read`' }),
    kind: z
      .enum(actKinds)
      .optional()
      .meta({ description: '`changes`: changes, exports and erasures; `reads`: reads of records' }),
    actor: word.optional().meta({ description: 'only acts of this actor' }),
    from: date.optional(),
    to: date.optional(),
  })
  .refine(inOrder, outOfOrder);

export const actsPage = z
  .object({
    acts: z.array(
      z.object({
        at: time,
        actor: z.string().meta({ description: "the access token's `sub`, or the user of the command line" }),
        act: z.string().meta({ description: 'such as `domain.create` or `log.read`' }),
        subject: z.string().meta({ description: 'the id of what the act is about; for a key, its prefix' }),
        details: z.record(z.string(), z.unknown()),
      }),
    ),
    nextCursor,
  })
  .meta({ id: 'ActsPage' });
export type ActsPage = z.infer<typeof actsPage>;

/** What a token can be revoked by. Postgres stores neither NUL nor half a surrogate pair. */
export const isTokenId = (value: unknown): value is string =>
  typeof value === 'string' && /^[^\0\p{Cs}]{1,256}$/u.test(value);

export const revokedTokenBody = z
  .strictObject({
    jti: z
      .string()
      .refine(isTokenId, 'must have 1 to 256 characters')
      .meta({ override: { type: 'string', minLength: 1, maxLength: 256 } }),
  })
  .meta({ id: 'RevokedTokenBody' });
export const revokedToken = z.object({ jti: z.string(), revokedAt: time }).meta({ id: 'RevokedToken' });
export type RevokedToken = z.infer<typeof revokedToken>;

export const signIn = z
  .object({
    oidc: z
      .object({
        issuer: z.string(),
        clientId: z.string(),
        scopes: z.array(z.string()).meta({ description: 'the scopes that the dashboard requests' }),
        audience: z
          .string()
          .nullable()
          .meta({ description: 'the audience for which the dashboard requests access tokens, if any' }),
      })
      .nullable()
      .meta({ description: 'the OpenID Connect provider, or null if there is none' }),
    accounts: z.boolean().meta({ description: 'whether people can have accounts here, with a password' }),
  })
  .meta({ id: 'SignIn' });
export type SignIn = z.infer<typeof signIn>;
export type Provider = NonNullable<SignIn['oidc']>;
