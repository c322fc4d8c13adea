/** The published versions of a domain's banner. */
import type { BannerVersion } from '#libs/banner/contract';
import type { Api } from './api.ts';
import { readAll } from './calls.ts';

/** `until`: when the next version was published; null for the live one. */
export interface Version extends BannerVersion {
  until: string | null;
}

/** All versions, newest first. A domain has at most 1,000. */
export const readVersions = ({ call }: Api, domainId: string, signal?: AbortSignal): Promise<Version[]> =>
  readAll(
    (query) => call('get /v1/organization/domains/:domainId/banner/versions', { params: { domainId }, query, signal }),
    (page) => page.versions,
  ).then((all) => all.map((version, at) => ({ ...version, until: all[at - 1]?.publishedAt ?? null })));
