/** What can go wrong with a request. */
import type { FieldError } from '#libs/base/terms/problem';
import { readRetryAfter } from '#libs/base/terms/retry-after';

/** `refused`: the service does not accept the token. `problem`: it answered with any other error. */
type ApiErrorKind = 'offline' | 'unreachable' | 'refused' | 'problem';

interface Details {
  /** the contract's stable code, where the service answered */
  code?: string | undefined;
  requestId?: string | undefined;
  /** of the answer, where there was one */
  headers?: Headers;
  /** HTTP status, where there was an answer */
  status?: number | undefined;
  /** what is wrong with each field, by its JSON pointer */
  errors?: FieldError[] | undefined;
}

export class ApiError extends Error {
  readonly kind: ApiErrorKind;
  readonly code: string | undefined;
  readonly requestId: string | undefined;
  /** milliseconds to wait, where the service or a proxy asked for it */
  readonly retryAfter: number;
  readonly status: number | undefined;
  readonly errors: FieldError[];

  constructor(kind: ApiErrorKind, message: string, details: Details = {}) {
    super(message);
    this.kind = kind;
    this.code = details.code;
    this.requestId = details.requestId;
    this.retryAfter = readRetryAfter(details.headers?.get('retry-after'), details.headers?.get('date'));
    this.status = details.status;
    this.errors = details.errors ?? [];
  }
}

/** In words, for what was asked with a click. The service's own begin without a capital and end without a full stop. */
export function textOf(error: unknown): string {
  if (!(error instanceof ApiError)) return 'Something went wrong.';
  if (error.code === 'plan_feature_required') return 'Your plan does not include the log.';
  if (error.code === 'changed_meanwhile')
    return 'Somebody else changed it in the meantime. Reload the page to see how it is now.';
  return sentence(error.message);
}

/** `must be a URL` → `Must be a URL.` */
export const sentence = (text: string): string =>
  `${text.charAt(0).toUpperCase()}${text.slice(1)}${text.endsWith('.') ? '' : '.'}`;
