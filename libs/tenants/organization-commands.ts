import { setTimeout } from 'node:timers/promises';
import { Command, InvalidArgumentError } from 'commander';
import { find, print, printList, printPages, type Tools } from '#libs/base/cli/session';
import type { Database } from '#libs/base/db/database';
import { isDate } from '#libs/base/terms/calendar';
import { type ActFilters, type ActsPosition, listActs } from './acts.ts';
import { administer, type TenantTools } from './administration.ts';
import { requireOrganization } from './command-subject.ts';
import { listOrganizations, listPlans } from './organizations.ts';
import { findOrganizations, type Organization } from './tenants.ts';
import { createVisitorHash } from './visitors.ts';

/** milliseconds that the tokens of the present second are revoked at most */
const revokedFor = 1_000;

export async function findOrganization(tools: Tools, organizationId: string): Promise<Organization> {
  const found = await tools.database((db) => db.read((sql) => findOrganizations(sql, [organizationId])));
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
        const plans = await db.read(listPlans);
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
    .description(
      'refuse all access tokens that were issued (`iat`) before now; run it again after 30 s if the clock of the issuer may be ahead',
    )
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
      printList(self, 'organizations', await tools.database((db) => db.read(listOrganizations)));
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

const flag = (text: string): boolean => {
  if (text !== 'true' && text !== 'false') throw new InvalidArgumentError('must be true or false');
  return text === 'true';
};

/** Not null, which commander would turn into an empty string. */
const limit = (text: string): number | 'none' => {
  if (text === 'none') return text;
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('must be a whole number, or none');
  return Number(text);
};

interface SetOptions {
  consentLog?: boolean;
  monthlyLimit?: number | 'none';
}

export function planCommand(tools: TenantTools): Command {
  const command = new Command('plan').description(
    'plans: whether the log may be read, and for how many records a month',
  );
  command
    .command('set <name>')
    .description('create or change a plan; omitted options keep their value (initially: log true, limit none)')
    .option('--consent-log <true|false>', 'whether the log may be read', flag)
    .option('--monthly-limit <n|none>', 'records a month beyond which the log shows only the newest 10', limit)
    .action(async (name: string, { consentLog, monthlyLimit }: SetOptions, self: Command) => {
      const plan = await administer(tools, (admin) =>
        admin.setPlan(name, {
          ...(consentLog !== undefined && { consentLog }),
          ...(monthlyLimit !== undefined && { monthlyRecordLimit: monthlyLimit === 'none' ? null : monthlyLimit }),
        }),
      );
      print(self, { ...plan });
    });
  command
    .command('list')
    .description('list plans')
    .action(async (_: object, self: Command) => {
      printList(self, 'plans', await tools.database((db) => db.read(listPlans)));
    });
  command
    .command('show <name>')
    .description('show one plan')
    .action(async (name: string, _: object, self: Command) => {
      print(self, find(await tools.database((db) => db.read(listPlans)), 'name', name, 'plan'));
    });
  return command;
}

type ActsOptions = ActFilters & { org?: string; visitor?: string };

/** acts that are read at once */
const pageSize = 500;

export function actsCommand(tools: Tools<{ privacyKey(): Buffer }>): Command {
  return new Command('acts')
    .description('administrative acts, newest first: who changed, read, exported or erased what and when')
    .option('--org <org>', 'only those of this organization')
    .option('--act <act>', 'only those of this kind, such as log.read')
    .option('--actor <actor>', 'only what they did')
    .option('--from <date>', 'from this day on, YYYY-MM-DD', day)
    .option('--to <date>', 'until this day', day)
    .option('--visitor <visitor>', 'only those about this visitor; with --org')
    .action(async (_: object, self: Command) => {
      // a global option of the same name takes --actor
      const { org: organizationId, visitor, act, actor, from, to } = self.optsWithGlobals<ActsOptions>();
      const filters = { act, actor, from, to };
      if (visitor !== undefined && organizationId === undefined) throw new Error('--visitor needs --org');
      const hash =
        visitor === undefined || organizationId === undefined
          ? undefined
          : createVisitorHash(tools.config().privacyKey())(organizationId, visitor);
      if (from !== undefined && to !== undefined && from > to) throw new Error('--from must not be after --to');
      await tools.database(async (db) => {
        const advice = '; if it was deleted, see: assent acts --act org.delete';
        if (organizationId !== undefined) await requireOrganization(db, organizationId, advice);
        await printPages(self, 'acts', columns, pagesOfActs(db, { organizationId, hash, ...filters }));
      });
    });
}

const columns = ['at', 'actor', 'act', 'subject', 'organizationId', 'details'] as const;

async function* pagesOfActs(db: Database, query: Omit<Parameters<typeof listActs>[1], 'limit' | 'after'>) {
  let after: ActsPosition | null | undefined;
  while (after !== null) {
    const position: ActsPosition | undefined = after;
    const page = await db.read((sql) => listActs(sql, { ...query, limit: pageSize, after: position }));
    yield page.acts;
    after = page.next;
  }
}

function day(text: string): string {
  if (!isDate(text)) throw new InvalidArgumentError('must be a real date, YYYY-MM-DD');
  return text;
}
