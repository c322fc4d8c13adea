/**
 * Who may do what in the database. It follows the migrations and is no migration, because the roles' prefix is a setting,
 * and because a restored database may come to a cluster without the roles: whoever migrates again mends that.
 */
import type postgres from 'postgres';
import { isForbidden } from '../errors.ts';
import { grantRights } from './grants.ts';
import { loginOf, makeLogin } from './logins.ts';
import { giveToOwner } from './ownership.ts';
import { createRoles, join, quoted, roleNames } from './roles.ts';

export interface Arrangement {
  /** what the roles' names begin with */
  prefix: string;
  /** The addresses that API and worker connect with: logins are made for them. */
  addresses: { api?: string | undefined; worker?: string | undefined };
}

/** Returns what was done, and what was not for lack of rights, a line each. What is as it should be is left alone. */
export async function arrangeRoles(sql: postgres.Sql, { prefix, addresses }: Arrangement): Promise<string[]> {
  const names = roleNames(prefix);
  const { owner, keeper, worker, api } = names;
  const lines: string[] = [];
  const lacking: string[] = [];
  /** Whether it was allowed. */
  const may = async (what: string, work: () => Promise<unknown>): Promise<boolean> => {
    try {
      await work();
      return true;
    } catch (error) {
      if (!isForbidden(error)) throw error;
      lacking.push(what);
      return false;
    }
  };

  const hasRoles = await may(`the roles ${Object.values(names).join(', ')}`, async () => {
    const created = await createRoles(sql, names);
    if (created.length > 0) lines.push(`made the roles ${created.join(', ')}`);
    await join(sql, owner, keeper);
    await join(sql, keeper, worker);
  });
  if (hasRoles) {
    for (const role of ['pg_read_all_stats', 'pg_signal_backend'])
      await may(`${role} for ${worker}`, () => join(sql, role, worker));
    await may('the rights of the roles in the schema', () => openSchema(sql, Object.values(names), owner));
    await may(`what is in the schema for ${owner}`, async () => {
      await standForOwner(sql, owner);
      if (await giveToOwner(sql, names)) lines.push(`${owner} owns the tables now`);
    });
    await may(`the rights of ${api} and ${worker}`, async () => {
      if (await grantRights(sql, names)) lines.push(`${api} and ${worker} have the rights of this release now`);
    });
    for (const [group, address] of [
      [api, addresses.api],
      [worker, addresses.worker],
    ] as const) {
      if (address === undefined) continue;
      const login = loginOf(address);
      await may(`the login ${login.name}`, async () => void lines.push(...(await makeLogin(sql, group, login))));
    }
  }
  if (lacking.length > 0)
    lines.push(
      `this login may not arrange, so it stays as it is: ${lacking.join('; ')}. docs/operations.md, "Least rights", says what a superuser does once`,
    );
  return lines;
}

/** The right of the one who migrates to own what the owner owns. */
async function standForOwner(sql: postgres.Sql, owner: string): Promise<void> {
  const [me] = await sql<{ name: string; isOwner: boolean }[]>`
    select current_user as name, pg_has_role(${owner}, 'usage') as "isOwner"`;
  if (me && !me.isOwner) await join(sql, owner, me.name);
}

async function openSchema(sql: postgres.Sql, roles: string[], owner: string): Promise<void> {
  const [here] = await sql<{ schema: string; database: string }[]>`
    select current_schema() as schema, current_database() as database`;
  if (!here) throw new Error('Postgres did not say which schema this is');
  const { schema, database } = here;
  for (const role of roles) {
    const [has] = await sql<{ connects: boolean; uses: boolean; creates: boolean }[]>`
      select has_database_privilege(${role}, ${database}, 'connect') as connects,
        has_schema_privilege(${role}, ${schema}, 'usage') as uses,
        ${role !== owner} or has_schema_privilege(${role}, ${schema}, 'create') as creates`;
    if (!has?.connects) await sql.unsafe(`grant connect on database ${quoted(database)} to ${quoted(role)}`);
    if (!has?.uses) await sql.unsafe(`grant usage on schema ${quoted(schema)} to ${quoted(role)}`);
    if (!has?.creates) await sql.unsafe(`grant create on schema ${quoted(schema)} to ${quoted(role)}`);
  }
}
