/** What operators change. Each change and its administrative act are written in one transaction. */
import { randomBytes } from 'node:crypto';
import type { DomainChange } from '#libs/contract/manage';
import type { Notice } from '#libs/contract/notice';
import { type Published, setHalted } from '../logs/checkpoints.ts';
import { lockUnconfirmed } from '../logs/confirm.ts';
import type { Halted } from '../logs/heads.ts';
import { type NextLog, restartLog } from '../logs/restart.ts';
import { type Put, putNotice } from '../notices/documents.ts';
import type { Database, Sql } from '../sql.ts';
import { addLanesOfDomain } from '../webhooks/lanes.ts';
import { domainColumns, lockDomain, type ManagedDomain } from './domains.ts';
import { keyColumns, type ListedKey } from './keys.ts';
import { createPerform, type Unchanged } from './perform.ts';
import { type Domain, hashApiKey, makeApiKey, type Plan } from './tenants.ts';

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

/** Access tokens of an organization that can be ended one by one. */
const mostRevoked = 10_000;

/** As organizations and domains are named. */
export const makeId = (prefix: string): string => `${prefix}_${randomBytes(10).toString('hex')}`;

const requireName = (name: string): void => {
  if (!/\S/.test(name) || [...name].length > 200) throw new Refused('a name has 1 to 200 characters, not only spaces');
};

export function createAdministration(db: Database, actor: string) {
  const perform = createPerform(db, actor);

  return {
    setPlan: (name: string, change: { consentLog?: boolean; monthlyRecordLimit?: number | null }): Promise<Plan> =>
      perform(async (sql, note) => {
        requireName(name);
        const { consentLog = null } = change;
        const limitGiven = 'monthlyRecordLimit' in change;
        const limit = change.monthlyRecordLimit ?? null;
        const [plan] = await sql<Plan[]>`
          insert into plans as p (name, consent_log, monthly_record_limit)
          values (${name}, coalesce(${consentLog}, true), ${limit})
          on conflict (name) do update set
            consent_log = coalesce(${consentLog}, p.consent_log),
            monthly_record_limit = case when ${limitGiven} then ${limit}::bigint else p.monthly_record_limit end
          returning name, consent_log as "consentLog", monthly_record_limit as "monthlyRecordLimit"`;
        if (!plan) throw new Error('a plan was neither made nor changed');
        await note({ act: 'plan.set', subject: name, details: { ...plan } });
        return plan;
      }),

    createOrganization: (name: string, plan: string) =>
      perform(async (sql, note) => {
        requireName(name);
        await requirePlan(sql, plan);
        const organizationId = makeId('org');
        await sql`insert into organizations (id, name, plan) values (${organizationId}, ${name}, ${plan})`;
        await note({ act: 'org.create', subject: organizationId, organizationId, details: { name, plan } });
        return { organizationId, name, plan };
      }),

    setOrganizationPlan: (organizationId: string, plan: string) =>
      perform(async (sql, note) => {
        await requirePlan(sql, plan);
        const [organization] = await sql<{ name: string }[]>`
          update organizations set plan = ${plan} where id = ${organizationId} returning name`;
        if (!organization) throw new Refused(`no organization ${organizationId}`);
        await note({ act: 'org.plan', subject: organizationId, organizationId, details: { plan } });
        return { organizationId, name: organization.name, plan };
      }),

    createDomain: (
      organizationId: string,
      { domainId = makeId('dom'), name, origins }: { domainId?: string | undefined; name: string; origins: string[] },
      quota?: number,
    ): Promise<ManagedDomain> =>
      perform(async (sql, note) => {
        requireName(name);
        // of two that are made at once the second counts the first
        const [organization] = await sql`
          select from organizations where id = ${organizationId} for no key update`;
        if (!organization) throw new Refused(`no organization ${organizationId}`);
        await requireRoom(
          quota,
          'domains',
          sql<{ there: number }[]>`
          select count(*)::int as there from domains where organization_id = ${organizationId}`,
        );
        const [deleted] = await sql`select from deleted_ids where id = ${domainId}`;
        if (deleted) throw new Refused(`there was a domain ${domainId}, and ids are not given again`);
        const [made] = await sql<ManagedDomain[]>`
          insert into domains (id, organization_id, name, origins)
          values (${domainId}, ${organizationId}, ${name}, ${origins})
          on conflict do nothing returning ${domainColumns(sql)}`;
        if (!made) throw new Refused(`there is a domain ${domainId} already`);
        await addLanesOfDomain(sql, domainId);
        await note({ act: 'domain.create', subject: domainId, domainId, details: { name, origins } });
        return made;
      }),

    /** `version`: the one that is to be changed, if the caller named one. */
    changeDomain: (
      organizationId: string,
      domainId: string,
      change: DomainChange,
      version?: number,
    ): Promise<ManagedDomain | Unchanged> =>
      perform(async (sql, note) => {
        const before = await lockDomain(sql, organizationId, domainId);
        if (!before) return 'not found';
        if (version !== undefined && before.version !== version) return 'changed meanwhile';
        const { name = before.name, origins = before.origins } = change;
        requireName(name);
        const changed = {
          ...(name !== before.name && { name }),
          ...(JSON.stringify(origins) !== JSON.stringify(before.origins) && { origins }),
        };
        const isRestored = change.archivedAt === null && before.archivedAt !== null;
        if (isRestored) await note({ act: 'domain.restore', subject: domainId, domainId });
        if (Object.keys(changed).length > 0) {
          await note({ act: 'domain.update', subject: domainId, domainId, details: changed });
        } else if (!isRestored) return before;
        const [after] = await sql<ManagedDomain[]>`
          update domains set
            name = ${name}, origins = ${origins}, version = version + 1,
            archived_at = case when ${isRestored} then null else archived_at end
          where id = ${domainId}
          returning ${domainColumns(sql)}`;
        return after ?? 'not found';
      }),

    /** Its keys are revoked. Reads go on, and `changeDomain` brings it back, without its keys. */
    archiveDomain: (organizationId: string, domainId: string, version?: number): Promise<ManagedDomain | Unchanged> =>
      perform(async (sql, note) => {
        const before = await lockDomain(sql, organizationId, domainId);
        if (!before) return 'not found';
        if (version !== undefined && before.version !== version) return 'changed meanwhile';
        if (before.archivedAt) return before;
        const { count: keys } = await sql`
          update api_keys set revoked_at = clock_timestamp() where domain_id = ${domainId} and revoked_at is null`;
        const [after] = await sql<ManagedDomain[]>`
          update domains set archived_at = clock_timestamp(), version = version + 1 where id = ${domainId}
          returning ${domainColumns(sql)}`;
        await note({ act: 'domain.archive', subject: domainId, domainId, details: { keysRevoked: keys } });
        return after ?? 'not found';
      }),

    renameOrganization: (organizationId: string, name: string) =>
      perform(async (sql, note) => {
        requireName(name);
        const [organization] = await sql<{ plan: string }[]>`
          update organizations set name = ${name} where id = ${organizationId} returning plan`;
        if (!organization) throw new Refused(`no organization ${organizationId}`);
        await note({ act: 'org.rename', subject: organizationId, organizationId, details: { name } });
        return { organizationId, name, plan: organization.plan };
      }),

    /** Of tokens only the second is known in which they were issued: those of the present one are revoked, too. */
    revokeTokens: (organizationId: string) =>
      perform(async (sql, note) => {
        const [organization] = await sql<{ tokensSince: Date }[]>`
          update organizations set tokens_since = date_trunc('second', clock_timestamp()) + interval '1 second'
          where id = ${organizationId} returning tokens_since as "tokensSince"`;
        if (!organization) throw new Refused(`no organization ${organizationId}`);
        const tokensSince = organization.tokensSince.toISOString();
        await note({ act: 'org.revoke-tokens', subject: organizationId, organizationId, details: { tokensSince } });
        return { organizationId, tokensSince };
      }),

    /** Ends the access tokens with this `jti`, and no others. */
    revokeToken: (organizationId: string, jti: string): Promise<{ jti: string; revokedAt: Date }> =>
      perform(async (sql, note) => {
        const [organization] = await sql<{ number: number }[]>`
          select number from organizations where id = ${organizationId} for no key update`;
        if (!organization) throw new Refused(`no organization ${organizationId}`);
        const { number } = organization;
        await requireRoom(
          mostRevoked,
          'revoked tokens',
          sql<{ there: number }[]>`
            select count(*)::int as there from revoked_tokens where organization_number = ${number} and jti <> ${jti}`,
        );
        const [revoked] = await sql<{ revokedAt: Date }[]>`
          insert into revoked_tokens (organization_number, jti) values (${number}, ${jti})
          on conflict (organization_number, jti) do update set jti = excluded.jti
          returning revoked_at as "revokedAt"`;
        if (!revoked) throw new Error('a token was not revoked');
        await note({ act: 'org.revoke-token', subject: organizationId, organizationId, details: { jti } });
        return { jti, ...revoked };
      }),

    /** The key is in the result and nowhere else: only its hash is stored. */
    createKey: (domainId: string, quota?: number) =>
      perform(async (sql, note) => {
        // a domain that is being archived is by then, or finds the key; of two keys at once the second counts the first
        const [domain] = await sql<{ archivedAt: Date | null }[]>`
          select archived_at as "archivedAt" from domains where id = ${domainId} for no key update`;
        if (!domain) throw new Refused(`no domain ${domainId}`);
        if (domain.archivedAt) throw new Archived(`domain ${domainId} is archived; restore it first`);
        const active = sql<{ there: number }[]>`
          select count(*)::int as there from api_keys where domain_id = ${domainId} and revoked_at is null`;
        await requireRoom(quota, 'active keys', active);
        const apiKey = makeApiKey();
        const hash = hashApiKey(apiKey);
        const prefix = apiKey.slice(0, 11);
        const [key] = await sql<ListedKey[]>`
          insert into api_keys (hash, domain_id, prefix) values (decode(${hash}, 'hex'), ${domainId}, ${prefix})
          returning ${keyColumns(sql)}`;
        if (!key) throw new Error('a key was not made');
        await note({ act: 'key.create', subject: hash, domainId, details: { domainId, prefix } });
        return { domainId, apiKey, key };
      }),

    revokeKey: (domainId: string, keyPrefix: string) =>
      perform(async (sql, note) => {
        const matches = await sql<{ hash: string; prefix: string }[]>`
          select encode(hash, 'hex') as hash, prefix from api_keys
          where domain_id = ${domainId} and revoked_at is null
            and (starts_with(prefix, ${keyPrefix}) or hash = decode(${hashApiKey(keyPrefix)}, 'hex'))`;
        const [key] = matches;
        if (!key) throw new Refused(`domain ${domainId} has no active key that begins with ${keyPrefix}`);
        if (matches.length > 1)
          throw new Refused(`${matches.length} active keys begin with ${keyPrefix}; give more of it`);
        await sql`update api_keys set revoked_at = now() where hash = decode(${key.hash}, 'hex')`;
        await note({ act: 'key.revoke', subject: key.hash, domainId, details: { domainId, prefix: key.prefix } });
        return { domainId, prefix: key.prefix, revoked: true };
      }),

    /** By its whole prefix. One that is revoked already stays as it is; undefined where there is none. */
    revokeListedKey: (domainId: string, prefix: string): Promise<ListedKey | undefined> =>
      perform(async (sql, note) => {
        const revoked = await sql<(ListedKey & { hash: string })[]>`
          update api_keys set revoked_at = clock_timestamp()
          where domain_id = ${domainId} and prefix = ${prefix} and revoked_at is null
          returning encode(hash, 'hex') as hash, ${keyColumns(sql)}`;
        for (const { hash } of revoked) {
          await note({ act: 'key.revoke', subject: hash, domainId, details: { domainId, prefix } });
        }
        const [key] = await sql<ListedKey[]>`
          select ${keyColumns(sql)} from api_keys where domain_id = ${domainId} and prefix = ${prefix}
          order by number desc limit 1`;
        return key;
      }),

    /** What an import did; also one that ended early. */
    noteImport: (domainId: string, details: { importId: string } & Record<string, string | number | boolean>) =>
      perform(async (_, note) => note({ act: 'records.import', subject: domainId, domainId, details })),

    /** Without the bounds of what pages put, and for good. */
    putNotice: (domainId: string, notice: Notice): Promise<Put> =>
      perform(async (sql, note) => {
        const [domain] = await sql`select from domains where id = ${domainId}`;
        if (!domain) throw new Refused(`no domain ${domainId}`);
        const put = await putNotice(sql, domainId, notice, null);
        if (put !== 'known')
          await note({ act: 'notice.put', subject: domainId, domainId, details: { notice: notice.hash } });
        return put;
      }),

    /** Ends a domain's log and begins the next one. */
    restartLog: (domainId: string, next: NextLog) =>
      perform(async (sql, note) => {
        const [domain] = await sql`select from domains where id = ${domainId}`;
        if (!domain) throw new Refused(`no domain ${domainId}`);
        const restarted = await restartLog(sql, domainId, next);
        if (!restarted) throw new Refused(`domain ${domainId} has no log: nothing of it is sealed yet`);
        const { ended, size, log } = restarted;
        await note({ act: 'log.restart', subject: domainId, domainId, details: { ended, size, log } });
        return { domainId, ...restarted };
      }),

    /**
     * Of the next unconfirmed logs after domain `after` (all, or those of `only`) lets those go on that `judge` does not
     * find behind. Returns what was judged; undefined after the last.
     */
    confirmLogs: (
      { after, limit, only }: { after: number; limit: number; only: string[] },
      judge: (logs: Published[]) => Promise<(Halted | null)[]>,
    ) =>
      perform(async (sql, note) => {
        const logs = await lockUnconfirmed(sql, { after, limit, only });
        const judged = await judge(logs);
        const changes = logs.map((own, at) => ({ ...own, halted: judged[at] ?? null }));
        await setHalted(sql, changes);
        for (const { domainId, log, checkpointSize, halted } of changes) {
          if (halted) continue;
          await note({ act: 'log.confirm', subject: domainId, domainId, details: { log, size: checkpointSize } });
        }
        return changes.length > 0 ? changes : undefined;
      }),
  };
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

async function requirePlan(sql: Sql, plan: string): Promise<void> {
  const [found] = await sql`select from plans where name = ${plan}`;
  if (!found) throw new Refused(`no plan ${plan}; make it with: assent plan set ${plan}`);
}

export type Administration = ReturnType<typeof createAdministration>;

/** The lists that the command line shows. */
export const directory = {
  plans: (sql: Sql) => sql<Plan[]>`
    select name, consent_log as "consentLog", monthly_record_limit as "monthlyRecordLimit" from plans order by name`,
  organizations: (sql: Sql) => sql<{ organizationId: string; name: string; plan: string }[]>`
    select id as "organizationId", name, plan from organizations order by created_at, id`,
  domains: (sql: Sql, organizationId?: string, domainId?: string) => sql<(Domain & { archivedAt: Date | null })[]>`
    select id as "domainId", organization_id as "organizationId", name, to_json(origins) as origins,
      archived_at as "archivedAt"
    from domains
    where (${organizationId ?? null}::text is null or organization_id = ${organizationId ?? null})
      and (${domainId ?? null}::text is null or id = ${domainId ?? null})
    order by created_at, id`,
  keys: (sql: Sql, domainId?: string) => sql<
    { domainId: string; prefix: string; createdAt: Date; lastUsedAt: Date | null; revokedAt: Date | null }[]
  >`
    select domain_id as "domainId", prefix, created_at as "createdAt", last_used_at as "lastUsedAt",
      revoked_at as "revokedAt"
    from api_keys where ${domainId ?? null}::text is null or domain_id = ${domainId ?? null}
    order by domain_id, created_at`,
};
