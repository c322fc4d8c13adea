import { Command } from 'commander';
import { z } from 'zod';
import { listed, type Tools } from '#libs/base/cli/session';
import { addAction, flags, none, verbsOf } from '#libs/base/cli/verb';
import type { Sql } from '#libs/base/db/database';
import { scopes, scopesAmong } from '#libs/base/terms/terms';
import { type AddAct, createPerform, partOf } from '#libs/tenants/audited-change';
import { requireOrganization } from '#libs/tenants/command-subject';
import { mostPeople, peopleChanges, personNotFound } from '#libs/tenants/organization-people';
import { scopeList } from '#libs/tenants/token-commands';
import { email } from './contract.ts';
import { inviteTo, makeLink, resetUrl, setupUrl } from './links.ts';
import {
  findPerson,
  getListedPerson,
  hasAnyPerson,
  listOrganizationsOf,
  listPeople,
  personIdOf,
  removeFrom,
  show,
} from './people.ts';

type PeopleTools = Tools<{ actor: string; publicUrl: string | undefined }>;

const org = z.string().describe('the organization');
const ofOrganization = flags(z.object({ org }));
const scopeFlag: [string, string] = ['--scope <scopes>', `what they may do: ${scopes.join(', ')}, separated by spaces`];
const withScope = flags(z.object({ org, scope: scopeList }), { scope: scopeFlag });
const withScopeOrRead = flags(z.object({ org, scope: scopeList.default('read') }), { scope: scopeFlag });

export function personCommand(tools: PeopleTools): Command {
  const noun = new Command('person').description('people with an account, and what they may do in an organization');
  const verb = verbsOf(noun);
  const change = <T>(work: (sql: Sql, note: AddAct) => Promise<T>) =>
    tools.database((db) => createPerform(db, tools.config().actor)(work));

  verb('list', ofOrganization, async ({ org: organizationId }) => {
    const people = await tools.database(async (db) => {
      await requireOrganization(db, organizationId);
      return db.read((sql) => listPeople(sql, { organizationId, limit: mostPeople }));
    });
    return listed('people', people.map(show));
  }).description('list the people of an organization, with pending invitations');

  verb('create <email>', withScopeOrRead, ({ org: organizationId, scope }, given = '') => {
    const address = addressIn(given);
    const url = requirePublicUrl(tools);
    return change(async (sql, note) => {
      const personNumber = (await findPerson(sql, { email: address }))?.number;
      const who = { email: address, personNumber };
      const given = { scopes: scopesAmong(scope.split(' ')) };
      const { number } = await peopleChanges(partOf(sql, note)).addPerson(organizationId, who, given);
      return personNumber === undefined ? inviteTo(sql, url, number) : show(await getListedPerson(sql, number));
    });
  }).description(
    'give somebody rights in an organization; prints an invitation link, valid once within 7 days, for somebody without an account',
  );

  verb('set <email>', withScope, ({ org: organizationId, scope }, given = '') =>
    change(async (sql, note) => {
      const personId = await idOf(sql, organizationId, given);
      const changes = peopleChanges(partOf(sql, note));
      const { number } = await changes.setScopes(organizationId, personId, scopesAmong(scope.split(' ')));
      return show(await getListedPerson(sql, number));
    }),
  ).description('change what somebody may do in an organization; takes effect within a second');

  verb('delete <email>', ofOrganization, ({ org: organizationId }, given = '') =>
    change(async (sql, note) =>
      show(await removeFrom(partOf(sql, note), organizationId, await idOf(sql, organizationId, given))),
    ),
  ).description('end the rights of somebody in an organization; an account without any organization is deleted');

  verb('reset <email>', none, (_, given = '') => {
    const address = addressIn(given);
    const url = requirePublicUrl(tools);
    return change(async (sql, note) => {
      const person = await findPerson(sql, { email: address });
      if (!person) throw new Error(`nobody has an account with the address ${address}`);
      const { secret, expiresAt } = await makeLink(sql, { personNumber: person.number });
      for (const { organizationId, personId } of await listOrganizationsOf(sql, person.number))
        await note({ act: 'person.reset', subject: personId, organizationId });
      return { email: address, resetUrl: resetUrl(url, secret), expiresAt };
    });
  }).description('print a link with which somebody sets a new password, valid once within a day');
  return noun;
}

export function setupCommand(tools: PeopleTools): Command {
  const command = new Command('setup').description(
    'print a link, valid for an hour, with which the first person creates an organization, an account and a domain',
  );
  return addAction(command, none, () => {
    const url = requirePublicUrl(tools);
    return tools.database((db) =>
      db.transaction(async (sql) => {
        if (await hasAnyPerson(sql))
          throw new Error('somebody has an account already; invite others with: person create');
        const { secret, expiresAt } = await makeLink(sql, {});
        return { setupUrl: setupUrl(url, secret), expiresAt };
      }),
    );
  });
}

function addressIn(given: string): string {
  const read = email.safeParse(given);
  if (read.success) return read.data;
  throw new Error(`${given} ${read.error.issues[0]?.message}`);
}

async function idOf(sql: Sql, organizationId: string, given: string): Promise<string> {
  const personId = await personIdOf(sql, organizationId, addressIn(given));
  if (personId === undefined) throw personNotFound();
  return personId;
}

function requirePublicUrl(tools: PeopleTools): string {
  const { publicUrl } = tools.config();
  if (publicUrl !== undefined) return publicUrl;
  throw new Error('set PUBLIC_URL: the link contains it');
}
