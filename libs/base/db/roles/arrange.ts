/**
 * Sets up the roles and their rights after the migrations. It is not a migration, because the roles' prefix is a setting,
 * and because a restored database may come to a cluster without the roles: migrating again then creates them.
 */
import type postgres from 'postgres';
import { isForbidden } from '../errors.ts';
import { grantRights } from './grants.ts';
import { loginOf, makeLogin } from './logins.ts';
import { giveToOwner } from './ownership.ts';
import { createRoles, ignoreConflicts, join, quoted, type SchemaRoles } from './roles.ts';

export interface Arrangement {
  /** prefix of the roles' names */
  prefix: string;
  /** The addresses that the API and the worker connect with. Logins are created for them. */
  addresses: { api?: string | undefined; worker?: string | undefined };
}

/** Changes only what differs. Returns one line for each change, and one for what this login may not do. */
export async function arrangeRoles(
  sql: postgres.Sql,
  roles: SchemaRoles,
  addresses: Arrangement['addresses'],
): Promise<string[]> {
  const { schema: _, ...names } = roles;
  const { owner, keeper, worker, api } = names;
  const lines: string[] = [];
  const lacking: string[] = [];
  /** Runs `work` and returns whether it was possible: neither refused by Postgres, nor resolved to false. */
  const may = async (what: string, work: () => Promise<unknown>): Promise<boolean> => {
    const isDone = await work().then(
      (result) => result !== false,
      (error) => {
        if (!isForbidden(error)) throw error;
        return false;
      },
    );
    if (!isDone) lacking.push(what);
    return isDone;
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
    await may('the rights of the roles in the schema', () => openSchema(sql, roles));
    const isGiven = await may(`what is in the schema for ${owner}`, async () => {
      if (!(await joinOwner(sql, owner))) return false;
      if (await giveToOwner(sql, roles)) lines.push(`${owner} owns the tables now`);
      return true;
    });
    await may(`the rights of ${api} and ${worker}`, async () => {
      if (await grantRights(sql, roles)) lines.push(`${api} and ${worker} have the rights of this release now`);
    });
    for (const [group, address] of [
      [api, addresses.api],
      [worker, addresses.worker],
    ] as const) {
      // before the owner has everything, these logins could not do all of their work
      if (address === undefined || !isGiven) continue;
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

/**
 * Makes this login a member of the owner's role, if it may. Since Postgres 16, the creator of a role can add members but
 * does not have its rights. Returns whether this login has those rights now: before 16 it might be NOINHERIT, and could no
 * longer use the tables once they are given away.
 */
async function joinOwner(sql: postgres.Sql, owner: string): Promise<boolean> {
  const isOwner = async () => {
    const [has] = await sql<{ right: boolean }[]>`select pg_has_role(${owner}, 'usage') as right`;
    return has?.right === true;
  };
  if (await isOwner()) return true;
  const [me] = await sql<{ name: string; version: number }[]>`
    select quote_ident(current_user) as name, current_setting('server_version_num')::int as version`;
  if (!me) throw new Error('Postgres did not say who this is');
  const options = me.version >= 160_000 ? 'with inherit true, set true' : '';
  await ignoreConflicts(() => sql.unsafe(`grant ${quoted(owner)} to ${me.name} ${options}`));
  return isOwner();
}

async function openSchema(sql: postgres.Sql, { schema, ...names }: SchemaRoles): Promise<void> {
  const [here] = await sql<{ database: string }[]>`select current_database() as database`;
  if (!here) throw new Error('Postgres did not say which database this is');
  const { database } = here;
  for (const role of Object.values(names)) {
    const [has] = await sql<{ connects: boolean; uses: boolean; creates: boolean }[]>`
      select has_database_privilege(${role}, ${database}, 'connect') as connects,
        has_schema_privilege(${role}, ${schema}, 'usage') as uses,
        ${role !== names.owner} or has_schema_privilege(${role}, ${schema}, 'create') as creates`;
    if (!has?.connects) await sql.unsafe(`grant connect on database ${quoted(database)} to ${quoted(role)}`);
    if (!has?.uses) await sql.unsafe(`grant usage on schema ${quoted(schema)} to ${quoted(role)}`);
    if (!has?.creates) await sql.unsafe(`grant create on schema ${quoted(schema)} to ${quoted(role)}`);
  }
}
