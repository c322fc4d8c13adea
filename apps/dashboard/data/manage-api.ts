/** The endpoints with which an organization manages its domains and their keys. */
import type {
  ActsPage,
  DomainChange,
  DomainsPage,
  Key,
  KeysPage,
  MadeKey,
  ManagedDomain,
  ShownDomain,
} from '#libs/tenants/contract';
import { bodyOf, readAll, type Send } from './webhook-api.ts';

const listedActs = 50;
const all = '/v1/organization/domains';

export function createManageApi(send: Send) {
  const one = (domainId: string, rest = '') => `${all}/${encodeURIComponent(domainId)}${rest}`;
  return {
    /** All, newest first. */
    domains: (signal?: AbortSignal) => readAll<DomainsPage, ManagedDomain>(send, all, ({ domains }) => domains, signal),
    domain: (domainId: string, signal?: AbortSignal) => send<ShownDomain>('GET', one(domainId), { signal }),
    createDomain: (body: { name: string; origins: string[] }) =>
      send<ManagedDomain>('POST', all, { body }).then(bodyOf),
    /** `tag`: of the version that it was changed from; absent, whatever the version. */
    changeDomain: (domainId: string, body: DomainChange, tag: string | null = null) =>
      send<ManagedDomain>('PATCH', one(domainId), { body, tag }),
    archiveDomain: (domainId: string) => send<ManagedDomain>('DELETE', one(domainId)),
    /** All, newest first. */
    keys: (domainId: string, signal?: AbortSignal) =>
      readAll<KeysPage, Key>(send, one(domainId, '/keys'), ({ keys }) => keys, signal),
    createKey: (domainId: string) => send<MadeKey>('POST', one(domainId, '/keys')).then(bodyOf),
    /** One that is revoked already stays as it is. */
    revokeKey: (domainId: string, prefix: string) =>
      send<Key>('DELETE', one(domainId, `/keys/${encodeURIComponent(prefix)}`)).then(bodyOf),
    acts: (cursor?: string, signal?: AbortSignal) =>
      send<ActsPage>('GET', '/v1/organization/acts', { query: { limit: listedActs, cursor }, signal }).then(bodyOf),
  };
}
