/** Tenants: plans, organizations, domains and keys, as the API and the command line read them. */
import { hash, randomBytes } from 'node:crypto';
import type { Sql } from '#libs/base/db/database';
import { earlierNow } from '#libs/base/db/postgres-time';
import type { Scope } from '#libs/base/terms/terms';

export type Plan = {
  name: string;
  consentLog: boolean;
  /** null: no limit */
  monthlyRecordLimit: number | null;
};

export type Domain = {
  domainId: string;
  organizationId: string;
  name: string;
  /** allowed `Origin` values; empty: any */
  origins: string[];
};

/** A domain as an organization's menu shows it. */
export interface OwnDomain extends Pick<Domain, 'domainId' | 'name'> {
  /** only of an archived one */
  archivedAt?: string;
}

export interface Organization {
  organizationId: string;
  name: string;
  plan: Plan;
  cursorKey: Uint8Array;
  /** access tokens that were issued before are refused */
  tokensSince: Date | null;
  /** `jti`s of access tokens that are refused */
  revokedTokens: Set<string>;
  /** scopes of the people who have accepted, by their ids */
  people: Map<string, Scope[]>;
  /** by id; sorted by name when loaded, but not sorted again when a domain is added or renamed */
  domains: Map<string, OwnDomain>;
}

/** The id of a new organization or domain. */
export const makeId = (prefix: string): string => `${prefix}_${randomBytes(10).toString('hex')}`;

/** How many individually revoked tokens an organization may have; expired ones do not count. */
export const mostRevoked = 10_000;

/** 192 random bits; the prefix lets secret scanners find leaked keys. */
export const makeApiKey = (): string => `ak_${randomBytes(24).toString('base64url')}`;
export const apiKeyPattern = /^ak_[A-Za-z0-9_-]{22,64}$/;
export const hashApiKey = (key: string): string => hash('sha256', key, 'hex');

/** The domains of these keys, by the key's hash in hex; without unknown and revoked keys. */
export async function domainsOfKeys(sql: Sql, hashes: string[]): Promise<Map<string, Domain>> {
  const rows = await sql<(Domain & { hash: string })[]>`
    select encode(k.hash, 'hex') as hash, d.id as "domainId", d.organization_id as "organizationId", d.name,
      to_json(d.origins) as origins
    from api_keys k join domains d on d.id = k.domain_id
    where k.revoked_at is null and k.hash in (select decode(h, 'hex') from unnest(${hashes}::text[]) as h)`;
  return new Map(rows.map(({ hash, ...domain }) => [hash, domain]));
}

export async function findDomains(sql: Sql, ids: string[]): Promise<Map<string, Domain>> {
  const rows = await sql<Domain[]>`
    select id as "domainId", organization_id as "organizationId", name, to_json(origins) as origins
    from domains where id = any(${ids})`;
  return new Map(rows.map((domain) => [domain.domainId, domain]));
}

interface OrganizationRow extends Omit<Organization, 'plan' | 'revokedTokens' | 'people' | 'domains'> {
  plan: string;
  consentLog: boolean;
  monthlyRecordLimit: number | null;
  revokedTokens: string[];
  people: Record<string, Scope[]>;
  domains: OwnDomain[];
}

/** With `changedDomains`, only these domains are read, and no revoked tokens. */
export async function findOrganizations(
  sql: Sql,
  ids: string[],
  changedDomains?: string[],
): Promise<Map<string, Organization>> {
  const isWhole = changedDomains === undefined;
  const rows = await sql<OrganizationRow[]>`
    select
      o.id as "organizationId", o.name, o.cursor_key as "cursorKey", p.name as plan, p.consent_log as "consentLog",
      p.monthly_record_limit as "monthlyRecordLimit", o.tokens_since as "tokensSince",
      (
        select coalesce(json_agg(jti), '[]') from revoked_tokens
        where ${isWhole} and organization_number = o.number and coalesce(expires_at > ${earlierNow(sql, new Date())}, true)
      ) as "revokedTokens",
      (
        select coalesce(json_object_agg(id, to_json(scopes)), '{}') from organization_people
        where organization_id = o.id and person_number is not null
      ) as people,
      coalesce(
        (select json_agg(json_strip_nulls(json_build_object(
            'domainId', d.id, 'name', d.name,
            'archivedAt', to_char(d.archived_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
          )) order by d.name, d.id)
         from domains d
         where d.organization_id = o.id ${isWhole ? sql`` : sql`and d.id = any(${changedDomains})`}), '[]') as domains
    from organizations o join plans p on p.name = o.plan
    where o.id = any(${ids})`;
  return new Map(
    rows.map(({ plan, consentLog, monthlyRecordLimit, revokedTokens, people, domains, ...organization }) => [
      organization.organizationId,
      {
        ...organization,
        plan: { name: plan, consentLog, monthlyRecordLimit },
        revokedTokens: new Set(revokedTokens),
        people: new Map(Object.entries(people)),
        domains: new Map(domains.map((domain) => [domain.domainId, domain])),
      },
    ]),
  );
}

/**
 * `used`: hashes, with the Unix milliseconds of their last use. Writes a key at most every 20 seconds, so that processes do
 * not contend for its row. Locks rows in hash order, so that two processes cannot deadlock.
 */
export const noteKeyUse = (sql: Sql, used: Map<string, number>) => sql`
  with due as materialized (
    select hash, used_at
    from api_keys
    join (
      select decode(used.hash, 'hex') as hash, to_timestamp(used.time / 1000.0) as used_at
      from unnest(${[...used.keys()]}::text[], ${[...used.values()]}::bigint[]) as used (hash, time)
    ) as noted using (hash)
    where last_used_at is null or last_used_at < used_at - interval '20 seconds'
    order by hash
    for no key update of api_keys
  )
  update api_keys set last_used_at = used_at from due where api_keys.hash = due.hash`;
