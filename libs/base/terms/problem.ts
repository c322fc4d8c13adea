/** The errors of the contract (RFC 9457). `code` is stable; the title belongs to the code. */
import { z } from 'zod';

export const problems = {
  invalid_json: { status: 400, title: 'The body is not a JSON object' },
  invalid_request: { status: 400, title: 'Invalid request' },
  id_time_out_of_range: { status: 400, title: "The record id's time is outside the accepted window" },
  missing_token: { status: 401, title: 'Access token required' },
  invalid_token: { status: 401, title: 'Invalid access token' },
  invalid_api_key: { status: 401, title: 'Invalid API key for this domain' },
  invalid_credentials: { status: 401, title: 'Invalid credentials' },
  invalid_invitation: { status: 401, title: 'Invalid invitation' },
  invalid_ticket: { status: 401, title: 'Invalid ticket of a site check' },
  invalid_setup: { status: 401, title: 'Invalid setup link' },
  plan_feature_required: { status: 403, title: 'Not included in your plan' },
  insufficient_scope: { status: 403, title: 'The access token lacks a scope' },
  origin_not_allowed: { status: 403, title: 'Origin not allowed' },
  domain_not_found: { status: 404, title: 'No such domain' },
  record_not_found: { status: 404, title: 'No such record' },
  notice_not_found: { status: 404, title: 'No such notice' },
  key_not_found: { status: 404, title: 'No such key' },
  webhook_not_found: { status: 404, title: 'No such webhook' },
  version_not_found: { status: 404, title: 'No such version' },
  check_not_found: { status: 404, title: 'No such check' },
  erasure_not_found: { status: 404, title: 'No such erasure' },
  person_not_found: { status: 404, title: 'No such person' },
  not_found: { status: 404, title: 'Not found' },
  method_not_allowed: { status: 405, title: 'Method not allowed' },
  not_sealed_yet: { status: 409, title: 'Not sealed yet' },
  domain_archived: { status: 409, title: 'The domain is archived' },
  published: { status: 409, title: 'Set by the published banner' },
  quota_exceeded: { status: 409, title: 'No more of them allowed' },
  log_restarted: { status: 409, title: 'The log was restarted' },
  email_taken: { status: 409, title: 'The address is taken' },
  not_pending: { status: 409, title: 'The invitation was accepted' },
  last_manager: { status: 409, title: 'The last person who can manage the organization' },
  in_progress: { status: 409, title: 'The first request is under way' },
  changed_meanwhile: { status: 412, title: 'Changed meanwhile' },
  expired: { status: 410, title: 'Past its retention' },
  payload_too_large: { status: 413, title: 'The body is too large' },
  unsupported_media_type: { status: 415, title: 'The body is not of the type that is expected here' },
  idempotency_mismatch: { status: 422, title: 'The Idempotency-Key was sent with another request' },
  rate_limited: { status: 429, title: 'Too many requests' },
  internal_error: { status: 500, title: 'Internal server error' },
  unavailable: { status: 503, title: 'Service temporarily unavailable' },
  not_configured: { status: 503, title: 'Not set up in this installation' },
} as const;

export type ProblemCode = keyof typeof problems;

export const problemBody = z
  .object({
    type: z.string(),
    title: z.string(),
    status: z.number().int(),
    code: z.string(),
    detail: z.string(),
    requestId: z.string(),
    errors: z
      .array(
        z.object({
          path: z.string(),
          in: z.enum(['body', 'query', 'path', 'header']).meta({ description: 'where in the request' }),
          message: z.string(),
        }),
      )
      .optional(),
    serverTime: z
      .string()
      .optional()
      .meta({ description: "with `id_time_out_of_range`: the server's time, to correct the clock by" }),
    limit: z.number().int().optional().meta({ description: 'with `quota_exceeded`: how many there may be' }),
    id: z.string().optional().meta({ description: 'with `unavailable`: the id of the record, to send again with' }),
    erasureId: z
      .string()
      .optional()
      .meta({ description: 'with `unavailable`: the id of the erasure, which may have begun' }),
  })
  .meta({ id: 'Problem' });

export type ProblemBody = z.infer<typeof problemBody>;
/** `in`: where in the request; default: in the body. */
export type FieldError = { path: string; in?: 'body' | 'query' | 'path' | 'header'; message: string };

interface ProblemExtras {
  errors?: FieldError[];
  serverTime?: string;
  limit?: number;
  id?: string;
  erasureId?: string;
  headers?: Record<string, string>;
  cause?: unknown;
  /** A 5xx that is no fault of the service or its stores: the client's network, a missing setting, a provider. */
  elsewhere?: boolean;
}

/** A caller's mistake or an outage. Everything except `cause` is public. */
export class Problem extends Error {
  readonly code: ProblemCode;
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly elsewhere: boolean;
  readonly extras: Pick<ProblemExtras, 'errors' | 'serverTime' | 'limit' | 'id' | 'erasureId'>;

  constructor(
    code: ProblemCode,
    detail: string,
    { headers = {}, cause, elsewhere = false, ...extras }: ProblemExtras = {},
  ) {
    super(detail, { cause });
    this.code = code;
    this.status = problems[code].status;
    this.headers = headers;
    this.elsewhere = elsewhere;
    this.extras = extras;
  }

  body(requestId: string): ProblemBody {
    const { status, title } = problems[this.code];
    const { errors, ...extras } = this.extras;
    return {
      type: `urn:assent:problem:${this.code}`,
      title,
      status,
      code: this.code,
      detail: this.message,
      requestId,
      ...extras,
      ...(errors && {
        errors: errors.map(({ path, in: place = 'body', message }) => ({ path, in: place, message })),
      }),
    };
  }
}

/** A key that the request needs is not set. Retrying does not help, and it must not raise an alert. */
export const notConfigured = (detail: string): Problem => new Problem('not_configured', detail, { elsewhere: true });

/** No store is available, or a deadline has passed. The caller should retry after a second. */
export const unavailable = (detail: string, extras: ProblemExtras = {}): Problem =>
  new Problem('unavailable', detail, { ...extras, headers: { 'Retry-After': '1', ...extras.headers } });
