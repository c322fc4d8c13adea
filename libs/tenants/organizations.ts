/** Plans and organizations, as operators change them. */
import type { Sql } from '#libs/base/db/database';
import type { Perform } from './audited-change.ts';
import { Refused, requireName } from './change-errors.ts';
import { makeId, type Plan } from './tenants.ts';

export const listPlans = (sql: Sql) => sql<Plan[]>`
  select name, consent_log as "consentLog", monthly_record_limit as "monthlyRecordLimit" from plans order by name`;

export const listOrganizations = (sql: Sql) => sql<{ organizationId: string; name: string; plan: string }[]>`
  select id as "organizationId", name, plan from organizations order by created_at, id`;

export const organizationChanges = (perform: Perform) => ({
  setPlan: (
    name: string,
    change: { consentLog?: boolean | undefined; monthlyRecordLimit?: number | null | undefined },
  ): Promise<Plan> =>
    perform(async (sql, note) => {
      requireName(name);
      const { consentLog = null } = change;
      const limitGiven = change.monthlyRecordLimit !== undefined;
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

  /** Creates the default plan if it is missing: with the log, without a limit. */
  ensureDefaultPlan: () =>
    perform(async (sql, note) => {
      const [plan] = await sql<Plan[]>`
        insert into plans (name) values ('default') on conflict do nothing
        returning name, consent_log as "consentLog", monthly_record_limit as "monthlyRecordLimit"`;
      if (plan) await note({ act: 'plan.set', subject: plan.name, details: { ...plan } });
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

  renameOrganization: (organizationId: string, name: string) =>
    perform(async (sql, note) => {
      requireName(name);
      const [organization] = await sql<{ plan: string }[]>`
        update organizations set name = ${name} where id = ${organizationId} returning plan`;
      if (!organization) throw new Refused(`no organization ${organizationId}`);
      await note({ act: 'org.rename', subject: organizationId, organizationId, details: { name } });
      return { organizationId, name, plan: organization.plan };
    }),
});

async function requirePlan(sql: Sql, plan: string): Promise<void> {
  const [found] = await sql`select from plans where name = ${plan}`;
  if (!found) throw new Refused(`no plan ${plan}; create it with: assent plan set ${plan}`);
}
