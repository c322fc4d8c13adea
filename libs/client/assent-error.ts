/** The errors of the client's calls. */
import type { ProblemBody } from '#libs/base/terms/problem';
import { readRetryAfter } from '#libs/base/terms/retry-after';

interface InvalidField {
  /** JSON pointer, such as `/decision` */
  path: string;
  /** the part of the request; default the body */
  in?: 'body' | 'query' | 'path' | 'header';
  message: string;
}

interface ErrorDetails {
  status?: number | undefined;
  requestId?: string | undefined;
  errors?: InvalidField[] | undefined;
  retryAfter?: number;
  recordId?: string | undefined;
  cause?: unknown;
}

/** Statuses of a service, or of a proxy in front of it, that is busy or restarting. */
const transientStatuses = [429, 502, 503, 504];
const withoutResponse = ['offline', 'unreachable', 'timeout'];

/** The error of all failed calls. Only a call that you abort rejects with your signal's reason instead. */
export class AssentError extends Error {
  override readonly name = 'AssentError';
  /**
   * The service's stable code, such as `domain_not_found`, or one of the client's own: `unreachable`, `offline`,
   * `timeout`, `unexpected_response`, `invalid_options`, `invalid_signature`, `not_a_proof`, `capped`.
   */
  readonly code: string;
  /** HTTP status; undefined without a response */
  readonly status: number | undefined;
  /** identifies the request in the service's log */
  readonly requestId: string | undefined;
  /** what is wrong with each field, for `invalid_request` */
  readonly errors: InvalidField[];
  /** milliseconds to wait, as the service or a proxy asked; otherwise 0 */
  readonly retryAfter: number;
  /** of `record`: send the decision again with this `id`, and it is recorded once */
  readonly recordId: string | undefined;

  constructor(code: string, message: string, details: ErrorDetails = {}) {
    super(message, { cause: details.cause });
    this.code = code;
    this.status = details.status;
    this.requestId = details.requestId;
    this.errors = details.errors ?? [];
    this.retryAfter = details.retryAfter ?? 0;
    this.recordId = details.recordId;
  }

  /** Whether the same request may succeed later. */
  get isTransient(): boolean {
    if (this.status === undefined) return withoutResponse.includes(this.code);
    return transientStatuses.includes(this.status) && this.code !== 'not_configured';
  }
}

/** The error of a response without success. */
export async function errorOf(response: Response): Promise<AssentError> {
  const { status, headers } = response;
  const body: Partial<ProblemBody> = isJson(response)
    ? await response
        .text()
        .then(JSON.parse)
        .catch(() => ({}))
    : {};
  const unexpected = `The response has status ${status}, and is not one of the service: check the address.`;
  return new AssentError(body.code ?? 'unexpected_response', body.detail ?? unexpected, {
    status,
    requestId: body.requestId ?? headers.get('x-request-id') ?? undefined,
    errors: body.errors,
    retryAfter: readRetryAfter(headers.get('retry-after'), headers.get('date')),
  });
}

export const isJson = (response: Response): boolean => /\bjson\b/.test(response.headers.get('content-type') ?? '');

/** `cause`: the error that `fetch`, or reading the body, threw. */
export const noResponseError = (cause?: unknown): AssentError =>
  (globalThis as { navigator?: { onLine?: boolean } }).navigator?.onLine === false
    ? new AssentError('offline', 'This device is offline.', { cause })
    : new AssentError('unreachable', 'The service did not answer.', { cause });
