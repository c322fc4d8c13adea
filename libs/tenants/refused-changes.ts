/** Why a change is refused. */
import { Problem } from '#libs/base/terms/problem';
import { name as nameRule } from './contract.ts';

/** An operator's mistake. The message is one line. */
export class Refused extends Error {}

/** What an archived domain does not take. */
export class Archived extends Refused {}

/** There are as many as there may be. */
export class QuotaReached extends Refused {
  readonly limit: number;
  constructor(limit: number, what: string) {
    super(`there are ${limit} ${what}, and may be no more`);
    this.limit = limit;
  }
}

/** Throws where there are `quota` already; what is there stays. */
export async function requireRoom(
  quota: number | undefined,
  what: string,
  count: PromiseLike<{ there: number }[]>,
): Promise<void> {
  if (quota === undefined) return;
  const [counted] = await count;
  if (counted && counted.there >= quota) throw new QuotaReached(quota, what);
}

export const requireName = (name: string): void => {
  const [wrong] = nameRule.safeParse(name).error?.issues ?? [];
  if (wrong) throw new Refused(`a name ${wrong.message}`);
};

/** For `catch`: what it throws is the answer. */
export function toQuotaProblem(error: unknown): unknown {
  if (!(error instanceof QuotaReached)) return error;
  return new Problem('quota_exceeded', error.message, { limit: error.limit, cause: error });
}
