/** Webhooks: requests, responses, and the codes of deliveries. */
import { z } from 'zod';
import * as examples from '#libs/base/terms/example-names';
import { decision, domainIdPattern } from '#libs/base/terms/terms';

export const webhookTypes = [
  'records.sealed',
  'visitor.erased',
  'limit.approaching',
  'limit.reached',
  'domain.silent',
] as const;
export type WebhookType = (typeof webhookTypes)[number];
const messageTypes = [...webhookTypes, 'webhook.test'] as const;
export type MessageType = (typeof messageTypes)[number];

/** Why an attempt failed. */
export const failures = [
  'status',
  'redirect',
  'gone',
  'timeout',
  'address',
  'name',
  'certificate',
  'connection',
] as const;
export type Failure = (typeof failures)[number];

const distinct = (list: unknown[]) => new Set(list).size === list.length;
const twice = 'must not name one twice';

/** of a webhook */
const mostHeaders = 10;
/** bytes of all names and values */
const longestHeaders = 4 * 1024;

/** Headers that HTTP and the service set. */
const ofService = /^(host|connection|transfer-encoding|keep-alive|upgrade|expect|te|trailer|content-.*|webhook-.*)$/;

/** Values by name. Names are in lower case once stored. */
export type Headers = Record<string, string>;

/** Headers that are sent with each message, such as the receiver's own credentials. */
export const headersGiven = z
  .record(
    z
      .string()
      .regex(/^[\w!#$%&'*+.^`|~-]+$/, "must be a header's name")
      .refine((name) => !ofService.test(name.toLowerCase()), 'is set by the service'),
    z.string().regex(/^[\x21-\x7e]([\t\x20-\x7e]*[\x21-\x7e])?$/, 'must be printable ASCII, without spaces around it'),
  )
  .refine((given) => Object.keys(given).length <= mostHeaders, `must be at most ${mostHeaders}`)
  .refine(
    (given) => Object.entries(given).flat().join('').length <= longestHeaders,
    `must have at most ${longestHeaders} bytes in all`,
  )
  .refine((given) => new Set(namesOf(given)).size === Object.keys(given).length, twice);

export const namesOf = (headers: Headers): string[] => Object.keys(headers).map((name) => name.toLowerCase());

const fields = {
  url: z.string().min(1).max(2048).meta({ description: '`https`, on port 443 or 1024 and above' }),
  types: z.array(z.enum(webhookTypes)).min(1).refine(distinct, twice),
  domains: z
    .array(z.string().regex(domainIdPattern, 'must be 1–64 of A–Z a–z 0–9 _ -'))
    .min(1)
    .max(500)
    .refine(distinct, twice)
    .nullable()
    .optional()
    .meta({ description: 'null: all domains of the organization, including future ones' }),
  decisions: z
    .array(decision)
    .min(1)
    .refine(distinct, twice)
    .nullable()
    .optional()
    .meta({ description: 'for `records.sealed`: only records with these decisions; null: all' }),
  headers: headersGiven.optional().meta({
    description:
      'sent with each message, and stored as secrets; changing `url` to another origin without `headers` deletes them',
  }),
  maxBytes: z
    .int()
    .min(16 * 1024)
    .max(1024 * 1024)
    .optional()
    .meta({ description: 'the maximum size of a message; default: 65,536' }),
};

export const webhookBody = z.strictObject(fields).meta({ id: 'WebhookBody' });
export type WebhookBody = z.infer<typeof webhookBody>;

export const webhookChange = z
  .strictObject({
    url: fields.url.optional(),
    types: fields.types.optional(),
    domains: fields.domains,
    decisions: fields.decisions,
    headers: fields.headers,
    maxBytes: fields.maxBytes,
    enabled: z.boolean().optional(),
  })
  .meta({ id: 'WebhookChange' });
export type WebhookChange = z.infer<typeof webhookChange>;

export const replayBody = z
  .strictObject({
    domainId: z.string().regex(domainIdPattern, 'must be 1–64 of A–Z a–z 0–9 _ -'),
    from: z.int().min(0).meta({ description: 'the first position to send again' }),
    log: z
      .int()
      .min(1)
      .optional()
      .meta({ description: 'the number of an earlier log of the domain; default: the newest' }),
  })
  .meta({ id: 'WebhookReplayBody' });

export const webhookPath = z.object({
  webhookId: z
    .string()
    .regex(/^wh_[A-Za-z0-9]{1,64}$/, 'must be wh_…')
    .meta({ example: examples.webhookId }),
});

const time = z.string().meta({ override: { type: 'string', format: 'date-time' } });
const count = z.number().int().min(0);

export const webhook = z
  .object({
    webhookId: z.string(),
    url: z.string(),
    types: z.array(z.enum(webhookTypes)),
    domains: z.array(z.string()).nullable(),
    decisions: z.array(decision).nullable(),
    headers: z.array(z.string()).meta({ description: 'only their names' }),
    maxBytes: count.meta({ description: 'the maximum size of a message' }),
    enabled: z.boolean(),
    createdAt: time,
    lastDeliveredAt: time.nullable(),
    failingSince: time.nullable().meta({ description: 'since when every attempt has failed' }),
  })
  .meta({ id: 'Webhook' });

export const madeWebhook = webhook
  .extend({ secret: z.string().meta({ description: '`whsec_…`, shown only this once' }) })
  .meta({ id: 'MadeWebhook' });

export const webhooksPage = z
  .object({ webhooks: z.array(webhook), nextCursor: z.string().nullable() })
  .meta({ id: 'WebhooksPage' });

export const webhookSecret = z
  .object({
    webhookId: z.string(),
    secret: z.string().meta({ description: 'shown only this once' }),
    previousUntil: time.meta({ description: 'until then, messages are also signed with the previous secret' }),
  })
  .meta({ id: 'WebhookSecret' });

export const webhookTest = z
  .object({ webhookId: z.string(), messageId: z.string().meta({ description: 'its `webhook-id`' }) })
  .meta({ id: 'WebhookTest' });

export const webhookRetry = z
  .object({
    webhookId: z.string(),
    messages: count.meta({ description: 'how many were waiting for their next attempt' }),
  })
  .meta({ id: 'WebhookRetry' });

export const webhookReplay = z
  .object({ webhookId: z.string(), domainId: z.string(), log: count, from: count, size: count })
  .meta({ id: 'WebhookReplay' });

export const deliveriesPage = z
  .object({
    deliveries: z.array(
      z.object({
        messageId: z.string().meta({ description: 'the `webhook-id`, the same for every attempt' }),
        type: z.enum(messageTypes),
        domainId: z.string().nullable(),
        log: count.nullable(),
        first: count.nullable().meta({ description: 'the first position in the message' }),
        size: count.nullable().meta({ description: 'the position after the last one' }),
        attempt: z.number().int().min(1),
        at: time,
        milliseconds: count,
        outcome: z.enum(['delivered', 'failed']),
        failure: z.enum(failures).nullable(),
        status: z
          .number()
          .int()
          .nullable()
          .meta({ description: "the response's status; nothing else of the response is stored" }),
        nextTryAt: time.nullable(),
      }),
    ),
    nextCursor: z.string().nullable(),
  })
  .meta({ id: 'DeliveriesPage' });

export type Webhook = z.infer<typeof webhook>;
export type MadeWebhook = z.infer<typeof madeWebhook>;
export type WebhooksPage = z.infer<typeof webhooksPage>;
export type WebhookSecret = z.infer<typeof webhookSecret>;
export type WebhookTest = z.infer<typeof webhookTest>;
export type WebhookRetry = z.infer<typeof webhookRetry>;
export type WebhookReplay = z.infer<typeof webhookReplay>;
export type DeliveriesPage = z.infer<typeof deliveriesPage>;
