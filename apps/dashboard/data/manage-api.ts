/** The endpoints for managing domains and their keys. */
import type { DomainChange } from '#libs/tenants/contract';
import { type Ask, bodyOf, readAll } from './calls.ts';

/** Acts per page. */
export const listedActs = 50;

export interface ActFilters {
  act?: string;
  kind?: string;
  actor?: string;
  from?: string;
  to?: string;
}

const domains = '/v1/organization/domains';
const domain = `${domains}/:domainId` as const;

export const createManageApi = (ask: Ask) => ({
  /** All, newest first. */
  domains: (signal?: AbortSignal) =>
    readAll(
      (query) => ask(`get ${domains}`, { query, signal }),
      (page) => page.domains,
    ),
  domain: (domainId: string, signal?: AbortSignal) => ask(`get ${domain}`, { params: { domainId }, signal }),
  createDomain: (body: { name: string; origins: string[] }) => ask(`post ${domains}`, { body }).then(bodyOf),
  /** `tag`: the version to change; without it, any version is overwritten. */
  changeDomain: (domainId: string, body: DomainChange, tag: string | null = null) =>
    ask(`patch ${domain}`, { params: { domainId }, body, tag }),
  archiveDomain: (domainId: string) => ask(`delete ${domain}`, { params: { domainId } }),
  /** All, newest first. */
  keys: (domainId: string, signal?: AbortSignal) =>
    readAll(
      (query) => ask(`get ${domain}/keys`, { params: { domainId }, query, signal }),
      (page) => page.keys,
    ),
  createKey: (domainId: string) => ask(`post ${domain}/keys`, { params: { domainId } }).then(bodyOf),
  /** Revoking a revoked key changes nothing. */
  revokeKey: (domainId: string, prefix: string) =>
    ask(`delete ${domain}/keys/:prefix`, { params: { domainId, prefix } }).then(bodyOf),
  acts: (filters: ActFilters, cursor?: string, signal?: AbortSignal) =>
    ask('get /v1/organization/acts', { query: { ...filters, limit: listedActs, cursor }, signal }).then(bodyOf),
});
