/** What can go wrong with a request. */
import type { FieldError } from '#libs/base/terms/problem';

/** `refused`: the service does not accept the token. `problem`: it answered with any other error. */
type ApiErrorKind = 'offline' | 'unreachable' | 'refused' | 'problem';

interface Details {
  /** the contract's stable code, where the service answered */
  code?: string | undefined;
  requestId?: string | undefined;
  /** seconds to wait, where the service asked for it */
  retryAfter?: number | undefined;
  /** HTTP status, where there was an answer */
  status?: number | undefined;
  /** what is wrong with each field, by its JSON pointer */
  errors?: FieldError[] | undefined;
}

export class ApiError extends Error {
  readonly kind: ApiErrorKind;
  readonly code: string | undefined;
  readonly requestId: string | undefined;
  readonly retryAfter: number | undefined;
  readonly status: number | undefined;
  readonly errors: FieldError[];

  constructor(kind: ApiErrorKind, message: string, details: Details = {}) {
    super(message);
    this.kind = kind;
    this.code = details.code;
    this.requestId = details.requestId;
    this.retryAfter = details.retryAfter;
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
