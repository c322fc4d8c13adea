import { setTimeout } from 'node:timers/promises';
import { Command } from 'commander';
import { z } from 'zod';
import { find, listed, printPages, type Tools } from '#libs/base/cli/session';
import { addAction, flags, none, text, verbsOf } from '#libs/base/cli/verb';
import type { Database, Sql } from '#libs/base/db/database';
import { inOrder, outOfOrder } from '#libs/base/terms/parameters';
import { type ActsPosition, listActs } from './acts.ts';
import { administer, type TenantTools } from './administration.ts';
import { requireOrganization } from './command-subject.ts';
import { actsQuery } from './contract.ts';
import { listOrganizations, listPlans } from './organizations.ts';
import { findOrganizations, type Organization } from './tenants.ts';
import { createVisitorHash } from './visitors.ts';

/** milliseconds: new tokens are refused until the current second ends, so the command waits at most this long */
const revokedFor = 1_000;

export async function findOrganization(tools: Tools, organizationId: string): Promise<Organization> {
  const found = await tools.database((db) => db.read((sql) => findOrganizations(sql, [organizationId])));
  const organization = found.get(organizationId);
  if (!organization) throw new Error(`no organization ${organizationId}`);
  return organization;
}

interface Elsewhere {
  /** `org delete`, which deletes from all rooms */
  deletion: Command;
  /** Ends the sessions of an organization's people. */
  endSessions: (sql: Sql, organizationId: string) => Promise<number>;
}

export function orgCommand(tools: TenantTools, { deletion, endSessions }: Elsewhere): Command {
  const noun = new Command('org').description('organizations: they group domains and have one plan');
  const verb = verbsOf(noun);

  verb(
    'create <name>',
    flags(z.object({ plan: z.string().default('default').describe('its plan') })),
    ({ plan }, name) =>
      administer(tools, async (admin) => {
        if (plan === 'default') await admin.ensureDefaultPlan();
        return admin.createOrganization(name, plan);
      }),
  ).description('create an organization, and the plan `default` (log, no limit) if it is missing');

  verb('plan <org> <plan>', none, (_, organizationId, plan) =>
    administer(tools, (admin) => admin.setOrganizationPlan(organizationId, plan)),
  ).description('change the plan of an organization');

  verb('rename <org> <name>', none, (_, organizationId, name) =>
    administer(tools, (admin) => admin.renameOrganization(organizationId, name)),
  ).description('rename an organization');

  verb('revoke-tokens <org>', none, async (_, organizationId) => {
    const revoked = await administer(tools, async (admin, db) => {
      // sessions first: a token that one of them gets until then is revoked below
      await db.write((sql) => endSessions(sql, organizationId));
      return admin.revokeTokens(organizationId);
    });
    // a token that is issued once this command has ended is valid
    await setTimeout(Math.min(revokedFor, Date.parse(revoked.tokensSince) - Date.now()));
    return revoked;
  }).description(
    'refuse all access tokens that were issued (`iat`) before now, and end the sessions of its people; run it again after 30 s if the clock of the issuer may be ahead',
  );
  noun.addCommand(deletion);

  verb('list', none, async () =>
    listed('organizations', await tools.database((db) => db.read(listOrganizations))),
  ).description('list organizations');

  verb('show <org>', none, async (_, organizationId) => {
    const { name, plan, domains } = await findOrganization(tools, organizationId);
    return { organizationId, name, plan: plan.name, domains: [...domains.keys()] };
  }).description('show one organization');
  return noun;
}

const planChange = z.object({
  consentLog: z
    .string()
    .regex(/^(true|false)$/, 'must be true or false')
    .transform((text) => text === 'true')
    .optional(),
  monthlyRecordLimit: z
    .string()
    .regex(/^(none|\d{1,15})$/, 'must be a whole number, or none')
    .transform((text) => (text === 'none' ? null : Number(text)))
    .optional(),
});
const planFlags = flags(planChange, {
  consentLog: ['--consent-log <true|false>', 'whether the log may be read'],
  monthlyRecordLimit: ['--monthly-limit <n|none>', 'records a month beyond which the log shows only the newest 10'],
});

export function planCommand(tools: TenantTools): Command {
  const noun = new Command('plan').description('plans: whether the log may be read, and for how many records a month');
  const verb = verbsOf(noun);

  verb('set <name>', planFlags, (change, name) =>
    administer(tools, (admin) => admin.setPlan(name, change)),
  ).description('create or change a plan; omitted options keep their value (initially: log true, limit none)');

  verb('list', none, async () => listed('plans', await tools.database((db) => db.read(listPlans)))).description(
    'list plans',
  );

  verb('show <name>', none, async (_, name) =>
    find(await tools.database((db) => db.read(listPlans)), 'name', name, 'plan'),
  ).description('show one plan');
  return noun;
}

/** acts that are read at once */
const pageSize = 500;

const { limit: _limit, cursor: _cursor, ...filters } = actsQuery.shape;
const actsFilters = z
  .object({
    org: text('only those of this organization'),
    ...filters,
    visitor: text('only those about this visitor; with --org'),
  })
  .refine(inOrder, outOfOrder);
const actsFlags = flags(actsFilters, {
  from: ['--from <date>', 'from this day on, YYYY-MM-DD'],
  to: ['--to <date>', 'until this day'],
});

export function actsCommand(tools: Tools<{ privacyKey(): Buffer }>): Command {
  const command = new Command('acts').description(
    'administrative acts, newest first: who changed, read, exported or erased what and when',
  );
  return addAction(command, actsFlags, ({ org: organizationId, visitor, ...given }) => async (self) => {
    if (visitor !== undefined && organizationId === undefined) throw new Error('--visitor needs --org');
    const hash =
      visitor === undefined || organizationId === undefined
        ? undefined
        : createVisitorHash(tools.config().privacyKey())(organizationId, visitor);
    await tools.database(async (db) => {
      const advice = '; if it was deleted, see: assent acts --act org.delete';
      if (organizationId !== undefined) await requireOrganization(db, organizationId, advice);
      await printPages(self, 'acts', pagesOfActs(db, { organizationId, hash, ...given }));
    });
  });
}

async function* pagesOfActs(db: Database, query: Omit<Parameters<typeof listActs>[1], 'limit' | 'after'>) {
  let after: ActsPosition | null | undefined;
  while (after !== null) {
    const position: ActsPosition | undefined = after;
    const page = await db.read((sql) => listActs(sql, { ...query, limit: pageSize, after: position }));
    yield page.acts.map(({ at, actor, act, subject, organizationId, details }) => {
      return { at, actor, act, subject, organizationId, details };
    });
    after = page.next;
  }
}
