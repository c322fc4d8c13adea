/** The endpoints of site checks. */
import type { ShownCheck } from '#libs/banner/contract';
import type { WidgetConfig } from '#libs/widget/config';
import { withFound } from '#libs/widget/found-services';
import type { Api } from './api.ts';
import { bodyOf } from './calls.ts';

const domain = '/v1/organization/domains/:domainId';

export function checksOf({ call }: Api, domainId: string) {
  const params = { domainId };
  /** Newest first. */
  const list = (query: { limit?: number } = {}, signal?: AbortSignal) =>
    call(`get ${domain}/checks`, { params, query, signal }).then((response) => response.body.checks);
  const one = (checkId: string, signal?: AbortSignal): Promise<ShownCheck> =>
    call(`get ${domain}/checks/:checkId`, { params: { domainId, checkId }, signal }).then(bodyOf);
  return {
    list,
    one,
    /** Null before the first check. */
    newest: async (signal?: AbortSignal): Promise<ShownCheck | null> => {
      const [newest] = await list({ limit: 1 }, signal);
      return newest ? one(newest.checkId, signal) : null;
    },
    ticket: () => call(`post ${domain}/check-ticket`, { params }).then(bodyOf),
    /** Adds the services found to the draft; returns their number. */
    takeOver: async ({ result }: ShownCheck): Promise<number> => {
      const { body, tag } = await call(`get ${domain}/banner`, { params });
      const { config, added } = withFound(body as WidgetConfig, result.steps);
      if (added > 0) await call(`put ${domain}/banner`, { params, body: config, tag });
      return added;
    },
  };
}
