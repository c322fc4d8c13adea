import { setTimeout } from 'node:timers/promises';
import { Command } from 'commander';
import { print, printList, type Tools } from '#libs/base/cli/session';
import { administer, type TenantTools } from './administer.ts';
import { directory } from './directory.ts';
import { findOrganizations, type Organization } from './tenants.ts';

/** milliseconds that the tokens of the present second are revoked at most */
const revokedFor = 1_000;

export async function findOrganization(tools: Tools, organizationId: string): Promise<Organization> {
  const found = await tools.database((db) => db.run((sql) => findOrganizations(sql, [organizationId])));
  const organization = found.get(organizationId);
  if (!organization) throw new Error(`no organization ${organizationId}`);
  return organization;
}

/** `deletion`: `org delete`, which takes from all rooms. */
export function orgCommand(tools: TenantTools, deletion: Command): Command {
  const command = new Command('org').description('organizations: they group domains and have one plan');
  command
    .command('create <name>')
    .option('--plan <plan>', 'its plan', 'default')
    .description('create an organization, and the plan `default` (log, no limit) if it is missing')
    .action(async (name: string, { plan }: { plan: string }, self: Command) => {
      const made = await administer(tools, async (admin, db) => {
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
      print(self, await administer(tools, (admin) => admin.setOrganizationPlan(organizationId, plan)));
    });
  command
    .command('rename <org> <name>')
    .description('rename an organization')
    .action(async (organizationId: string, name: string, _: object, self: Command) => {
      print(self, await administer(tools, (admin) => admin.renameOrganization(organizationId, name)));
    });
  command
    .command('revoke-tokens <org>')
    .description('refuse all access tokens that were issued before now')
    .action(async (organizationId: string, _: object, self: Command) => {
      const revoked = await administer(tools, (admin) => admin.revokeTokens(organizationId));
      // a token that is issued once this command has ended is valid
      await setTimeout(Math.min(revokedFor, Date.parse(revoked.tokensSince) - Date.now()));
      print(self, revoked);
    });
  command.addCommand(deletion);
  command
    .command('list')
    .description('list organizations')
    .action(async (_: object, self: Command) => {
      printList(self, 'organizations', await tools.database((db) => db.run(directory.organizations)));
    });
  command
    .command('show <org>')
    .description('show one organization')
    .action(async (organizationId: string, _: object, self: Command) => {
      const { name, plan, domains } = await findOrganization(tools, organizationId);
      print(self, { organizationId, name, plan: plan.name, domains: [...domains.keys()] });
    });
  return command;
}
