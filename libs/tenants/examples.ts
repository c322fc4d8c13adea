/** Domains, keys, administrative acts, sign-in. */
import { decidedAt, domainId, keyPrefix, laterAt } from '#libs/base/terms/example-names';
import type {
  ActsPage,
  DomainChange,
  DomainsPage,
  Key,
  KeysPage,
  MadeKey,
  ManagedDomain,
  RevokedToken,
  ShownDomain,
  SignIn,
} from './contract.ts';

const origins = ['https://www.example.com'];

export const domainBody = { name: 'www.example.com', origins };

export const domain: ManagedDomain = {
  domainId,
  name: 'www.example.com',
  origins,
  validMonths: 12,
  policyVersion: '2026-11',
  createdAt: decidedAt,
  archivedAt: null,
};

export const shownDomain: ShownDomain = {
  ...domain,
  refusedOrigins: [{ origin: 'https://staging.example.com', refusedAt: laterAt }],
  ignoredFields: [
    { field: 'tcString', why: 'must be at most 4096 characters', type: 'string', length: 5_000, ignoredAt: laterAt },
  ],
};

export const domainChange: DomainChange = { origins: [...origins, 'https://shop.example.com'] };
export const changedDomain: ManagedDomain = { ...domain, origins: [...origins, 'https://shop.example.com'] };
export const archivedDomain: ManagedDomain = { ...domain, archivedAt: laterAt };
export const domainsPage: DomainsPage = { domains: [{ ...domain, activeKeys: 1 }], nextCursor: null };

const key: Key = { prefix: keyPrefix, createdAt: decidedAt, lastUsedAt: null, revokedAt: null, isOfPage: false };
export const keysPage: KeysPage = { keys: [key], nextCursor: null };
export const madeKey: MadeKey = { ...key, apiKey: `${keyPrefix}1mB7nC4pL0sW2dY8` };
export const revokedKey: Key = { ...key, revokedAt: laterAt };

export const actsPage: ActsPage = {
  acts: [{ at: laterAt, actor: 'ann@example.com', act: 'domain.update', subject: domainId, details: { origins } }],
  nextCursor: null,
};

export const revokedToken: RevokedToken = { jti: '0f6b1c9a', revokedAt: laterAt };

export const signIn: SignIn = {
  oidc: {
    issuer: 'https://login.example.com',
    clientId: 'assent-dashboard',
    scopes: ['openid'],
    audience: 'https://consent.example.com',
  },
  accounts: true,
};
