/** A quota that is reached, as the contract has it. */
import { Problem } from '#libs/base/terms/problem';
import { QuotaReached } from './refusals.ts';

/** For `catch`: what it throws is the answer. */
export function toQuotaProblem(error: unknown): unknown {
  if (!(error instanceof QuotaReached)) return error;
  return new Problem('quota_exceeded', error.message, { limit: error.limit, cause: error });
}
