/** Why a change is refused. */
import { Problem } from '#libs/base/terms/problem';

/** An operator's mistake. The message is one line. */
export class Refused extends Error {}

/** The domain is archived. */
export class Archived extends Refused {}

/** The published banner sets the value. */
export class Published extends Refused {
  constructor() {
    super('publishing the banner sets validMonths and policyVersion: change its settings, and publish');
  }
}

/** The quota is used up. */
export class QuotaReached extends Refused {
  readonly limit: number;
  constructor(limit: number, what: string) {
    super(`there are ${limit} ${what}, and may be no more`);
    this.limit = limit;
  }
}

/** Throws if there are `quota` already; existing ones stay. */
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
  if (!/\S/.test(name) || [...name].length > 200) throw new Refused('a name has 1 to 200 characters, not only spaces');
};

/** The Problem that the caller gets. */
export function problemOf(error: unknown): unknown {
  if (error instanceof Archived) return domainArchived();
  if (error instanceof Published) return new Problem('published', error.message, { cause: error });
  if (!(error instanceof QuotaReached)) return error;
  return new Problem('quota_exceeded', error.message, { limit: error.limit, cause: error });
}

export const domainArchived = () => new Problem('domain_archived', 'the domain is archived; restore it first');
