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
} from '#libs/contract/manage';
import type { Called, Send } from './webhook-api.ts';

export interface ManageApi {
  /** All, newest first. */
  domains(signal?: AbortSignal): Promise<ManagedDomain[]>;
  domain(domainId: string, signal?: AbortSignal): Promise<Called<ShownDomain>>;
  createDomain(body: { name: string; origins: string[] }): Promise<ManagedDomain>;
  /** `tag`: of the version that it was changed from; absent, whatever the version. */
  changeDomain(domainId: string, change: DomainChange, tag?: string | null): Promise<Called<ManagedDomain>>;
  archiveDomain(domainId: string): Promise<Called<ManagedDomain>>;
  /** All, newest first. */
  keys(domainId: string, signal?: AbortSignal): Promise<Key[]>;
  createKey(domainId: string): Promise<MadeKey>;
  /** One that is revoked already stays as it is. */
  revokeKey(domainId: string, prefix: string): Promise<Key>;
  acts(cursor?: string, signal?: AbortSignal): Promise<ActsPage>;
}

/** The most that a page takes. */
const listed = 200;
const listedActs = 50;
const all = '/v1/organization/domains';
const bodyOf = <Body>({ body }: Called<Body>): Body => body;

export function createManageApi(send: Send): ManageApi {
  const one = (domainId: string, rest = '') => `${all}/${encodeURIComponent(domainId)}${rest}`;

  async function readAll<Page extends { nextCursor: string | null }, Item>(
    path: string,
    itemsOf: (page: Page) => Item[],
    signal?: AbortSignal,
  ): Promise<Item[]> {
    const items: Item[] = [];
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page: Page = await send<Page>('GET', path, { query: { limit: listed, cursor }, signal }).then(bodyOf);
      items.push(...itemsOf(page));
      cursor = page.nextCursor;
    }
    return items;
  }

  return {
    domains: (signal) => readAll<DomainsPage, ManagedDomain>(all, ({ domains }) => domains, signal),
    domain: (domainId, signal) => send('GET', one(domainId), { signal }),
    createDomain: (body) => send<ManagedDomain>('POST', all, { body }).then(bodyOf),
    changeDomain: (domainId, body, tag = null) => send('PATCH', one(domainId), { body, tag }),
    archiveDomain: (domainId) => send('DELETE', one(domainId)),
    keys: (domainId, signal) => readAll<KeysPage, Key>(one(domainId, '/keys'), ({ keys }) => keys, signal),
    createKey: (domainId) => send<MadeKey>('POST', one(domainId, '/keys')).then(bodyOf),
    revokeKey: (domainId, prefix) =>
      send<Key>('DELETE', one(domainId, `/keys/${encodeURIComponent(prefix)}`)).then(bodyOf),
    acts: (cursor, signal) =>
      send<ActsPage>('GET', '/v1/organization/acts', { query: { limit: listedActs, cursor }, signal }).then(bodyOf),
  };
}
