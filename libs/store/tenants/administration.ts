/** What operators change. Each change and its administrative act are written in one transaction. */
import { randomBytes } from 'node:crypto';
import type { Notice } from '#libs/contract/notice';
import { type Published, setHalted } from '../logs/checkpoints.ts';
import { lockUnconfirmed } from '../logs/confirm.ts';
import type { Halted } from '../logs/heads.ts';
import { type NextLog, restartLog } from '../logs/restart.ts';
import { type Put, putNotice } from '../notices/documents.ts';
import type { Database, Sql } from '../sql.ts';
import { addLanesOfDomain } from '../webhooks/lanes.ts';
import { createPerform } from './perform.ts';
import { type Domain, hashApiKey, makeApiKey, type Plan } from './tenants.ts';

/** An operator's mistake. The message is one line. */
export class Refused extends Error {}

const makeId = (prefix: string) => `${prefix}_${randomBytes(10).toString('hex')}`;

const requireName = (name: string): void => {
  if (!/\S/.test(name) || name.length > 200) throw new Refused('a name has 1 to 200 characters, not only spaces');
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
        await note({ act: 'org.create', subject: organizationId, details: { name, plan } });
        return { organizationId, name, plan };
      }),

    setOrganizationPlan: (organizationId: string, plan: string) =>
      perform(async (sql, note) => {
        await requirePlan(sql, plan);
        const [organization] = await sql<{ name: string }[]>`
          update organizations set plan = ${plan} where id = ${organizationId} returning name`;
        if (!organization) throw new Refused(`no organization ${organizationId}`);
        await note({ act: 'org.plan', subject: organizationId, details: { plan } });
        return { organizationId, name: organization.name, plan };
      }),

    createDomain: (
      organizationId: string,
      { domainId = makeId('dom'), name, origins }: { domainId?: string | undefined; name: string; origins: string[] },
    ): Promise<Domain> =>
      perform(async (sql, note) => {
        requireName(name);
        const [organization] = await sql`select from organizations where id = ${organizationId}`;
        if (!organization) throw new Refused(`no organization ${organizationId}`);
        const [made] = await sql`
          insert into domains (id, organization_id, name, origins)
          values (${domainId}, ${organizationId}, ${name}, ${origins})
          on conflict do nothing returning id`;
        if (!made) throw new Refused(`there is a domain ${domainId} already`);
        await addLanesOfDomain(sql, domainId);
        await note({ act: 'domain.create', subject: domainId, details: { organizationId, name, origins } });
        // the organization's list of domains changed too
        await note({ act: 'org.domain', subject: organizationId, details: { domainId } });
        return { domainId, organizationId, name, origins };
      }),

    /** The key is in the result and nowhere else: only its hash is stored. */
    createKey: (domainId: string) =>
      perform(async (sql, note) => {
        const [domain] = await sql`select from domains where id = ${domainId}`;
        if (!domain) throw new Refused(`no domain ${domainId}`);
        const apiKey = makeApiKey();
        const hash = hashApiKey(apiKey);
        const prefix = apiKey.slice(0, 11);
        await sql`insert into api_keys (hash, domain_id, prefix) values (decode(${hash}, 'hex'), ${domainId}, ${prefix})`;
        await note({ act: 'key.create', subject: hash, details: { domainId, prefix } });
        return { domainId, apiKey };
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
        await note({ act: 'key.revoke', subject: key.hash, details: { domainId, prefix: key.prefix } });
        return { domainId, prefix: key.prefix, revoked: true };
      }),

    /** What an import did; also one that ended early. */
    noteImport: (domainId: string, details: { importId: string } & Record<string, string | number | boolean>) =>
      perform(async (_, note) => note({ act: 'records.import', subject: domainId, details })),

    /** Without the bounds of what pages put. */
    putNotice: (domainId: string, notice: Notice): Promise<Put> =>
      perform(async (sql, note) => {
        const [domain] = await sql`select from domains where id = ${domainId}`;
        if (!domain) throw new Refused(`no domain ${domainId}`);
        const put = await putNotice(sql, domainId, notice, null);
        if (put === 'new') await note({ act: 'notice.put', subject: domainId, details: { notice: notice.hash } });
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
        await note({ act: 'log.restart', subject: domainId, details: { ended, size, log } });
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
          if (!halted) await note({ act: 'log.confirm', subject: domainId, details: { log, size: checkpointSize } });
        }
        return changes.length > 0 ? changes : undefined;
      }),
  };
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
  domains: (sql: Sql, organizationId?: string) => sql<Domain[]>`
    select id as "domainId", organization_id as "organizationId", name, to_json(origins) as origins
    from domains
    where ${organizationId ?? null}::text is null or organization_id = ${organizationId ?? null}
    order by created_at, id`,
  keys: (sql: Sql, domainId?: string) => sql<
    { domainId: string; prefix: string; createdAt: Date; lastUsedAt: Date | null; revokedAt: Date | null }[]
  >`
    select domain_id as "domainId", prefix, created_at as "createdAt", last_used_at as "lastUsedAt",
      revoked_at as "revokedAt"
    from api_keys where ${domainId ?? null}::text is null or domain_id = ${domainId ?? null}
    order by domain_id, created_at`,
  acts: (sql: Sql, limit: number) => sql<{ at: Date; actor: string; act: string; subject: string; details: object }[]>`
    select at, actor, act, subject, details from (
      (select at, actor, act, subject, details from administrative_acts order by id desc limit ${limit})
      union all
      (
        select at, actor, act, coalesce(encode(hash, 'hex'), ''), jsonb_strip_nulls(jsonb_build_object(
          'organizationId', (select id from organizations where number = organization_number),
          'domainId', (select id from domains where number = domain_number),
          'erasureId', erasure_id
        )) || coalesce(details, '{}')
        from visitor_acts order by id desc limit ${limit}
      )
    ) as acts
    order by at desc limit ${limit}`,
};
