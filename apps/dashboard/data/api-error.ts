/** What can go wrong with a request. */

/** `refused`: the service does not accept the token. `problem`: it answered with any other error. */
export type ApiErrorKind = 'offline' | 'unreachable' | 'refused' | 'problem';

interface Details {
  /** the contract's stable code, where the service answered */
  code?: string | undefined;
  requestId?: string | undefined;
  /** seconds to wait, where the service asked for it */
  retryAfter?: number | undefined;
  /** HTTP status, where there was an answer */
  status?: number | undefined;
}

export class ApiError extends Error {
  readonly kind: ApiErrorKind;
  readonly code: string | undefined;
  readonly requestId: string | undefined;
  readonly retryAfter: number | undefined;
  readonly status: number | undefined;

  constructor(kind: ApiErrorKind, message: string, details: Details = {}) {
    super(message);
    this.kind = kind;
    this.code = details.code;
    this.requestId = details.requestId;
    this.retryAfter = details.retryAfter;
    this.status = details.status;
  }
}
