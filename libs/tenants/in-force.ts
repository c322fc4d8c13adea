/** What a request changed is in force in this process before it is answered; in others it is within a second. */

import type { Middleware } from '#libs/base/http/context';
import type { TenantCache } from './tenant-cache.ts';

export function inForce({ tenants }: { tenants: Pick<TenantCache, 'catchUp'> }): Middleware {
  return async (_, next) => {
    await next();
    await tenants.catchUp();
  };
}
