import { setTimeout } from 'node:timers/promises';
import { Command } from 'commander';
import { directory } from '#libs/store/tenants/directory';
import { findOrganizations, type Organization } from '#libs/store/tenants/tenants';
import { print, printList, withDatabase } from './session.ts';

/** milliseconds that the tokens of the present second are revoked at most */
const revokedFor = 1_000;

export async function findOrganization(organizationId: string): Promise<Organization> {
  const found = await withDatabase((db) => db.run((sql) => findOrganizations(sql, [organizationId])));
  const organization = found.get(organizationId);
  if (!organization) throw new Error(`no organization ${organizationId}`);
  return organization;
}

export function orgCommand(): Command {
  const command = new Command('org').description('organizations: they group domains and have one plan');
  command
    .command('create <name>')
    .option('--plan <plan>', 'its plan', 'default')
    .description('create an organization, and the plan `default` (log, no limit) if it is missing')
    .action(async (name: string, { plan }: { plan: string }, self: Command) => {
      const made = await withDatabase(async (db, admin) => {
        const plans = await db.run(directory.plans);
        if (plan === 'default' && !plans.some((each) => each.name === plan)) await admin.setPlan(plan, {});
        return admin.createOrganization(name, plan);
      });
      print(self, made);
    });
  command
    .command('plan <org> <plan>')
    .description('change the plan of an organization')
    .action(async (organizationId: string, plan: string, _: object, self: Command) => {
      print(self, await withDatabase((_db, admin) => admin.setOrganizationPlan(organizationId, plan)));
    });
  command
    .command('rename <org> <name>')
    .description('rename an organization')
    .action(async (organizationId: string, name: string, _: object, self: Command) => {
      print(self, await withDatabase((_db, admin) => admin.renameOrganization(organizationId, name)));
    });
  command
    .command('revoke-tokens <org>')
    .description('refuse all access tokens that were issued before now')
    .action(async (organizationId: string, _: object, self: Command) => {
      const revoked = await withDatabase((_db, admin) => admin.revokeTokens(organizationId));
      // a token that is issued once this command has ended is valid
      await setTimeout(Math.min(revokedFor, Date.parse(revoked.tokensSince) - Date.now()));
      print(self, revoked);
    });
  command
    .command('list')
    .description('list organizations')
    .action(async (_: object, self: Command) => {
      printList(self, 'organizations', await withDatabase((db) => db.run(directory.organizations)));
    });
  command
    .command('show <org>')
    .description('show one organization')
    .action(async (organizationId: string, _: object, self: Command) => {
      const { name, plan, domains } = await findOrganization(organizationId);
      print(self, { organizationId, name, plan: plan.name, domains: domains.map((domain) => domain.domainId) });
    });
  return command;
}
