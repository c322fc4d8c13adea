/**
 * Who may do what in the database. It follows the migrations and is no migration, because the roles' prefix is a setting,
 * and because a restored database may come to a cluster without the roles: whoever migrates again mends that.
 */
import type postgres from 'postgres';
import { isForbidden } from '../errors.ts';
import { grantRights } from './grants.ts';
import { loginOf, makeLogin } from './logins.ts';
import { giveToOwner } from './ownership.ts';
import { beside, createRoles, join, type Place, quoted } from './roles.ts';

export interface Arrangement {
  /** what the roles' names begin with */
  prefix: string;
  /** The addresses that API and worker connect with: logins are made for them. */
  addresses: { api?: string | undefined; worker?: string | undefined };
}

/** Returns what was done, and what was not for lack of rights, a line each. What is as it should be is left alone. */
export async function arrangeRoles(
  sql: postgres.Sql,
  place: Place,
  addresses: Arrangement['addresses'],
): Promise<string[]> {
  const { schema: _, ...names } = place;
  const { owner, keeper, worker, api } = names;
  const lines: string[] = [];
  const lacking: string[] = [];
  /** Whether it was allowed: neither refused, nor found by `work`, which then resolves to false, to be of no use. */
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
    await may('the rights of the roles in the schema', () => openSchema(sql, place));
    const isGiven = await may(`what is in the schema for ${owner}`, async () => {
      if (!(await standForOwner(sql, owner))) return false;
      if (await giveToOwner(sql, place)) lines.push(`${owner} owns the tables now`);
      return true;
    });
    await may(`the rights of ${api} and ${worker}`, async () => {
      if (await grantRights(sql, place)) lines.push(`${api} and ${worker} have the rights of this release now`);
    });
    for (const [group, address] of [
      [api, addresses.api],
      [worker, addresses.worker],
    ] as const) {
      // until then they could not do all of their work
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
 * Gives the one who migrates the right to own what the owner owns. Since Postgres 16 who makes a role is a member that may
 * make others members, and no more. Whether they have the right now: before 16 a login may be one that does not inherit,
 * and would give away what it could not use then.
 */
async function standForOwner(sql: postgres.Sql, owner: string): Promise<boolean> {
  const isOwner = async () => {
    const [has] = await sql<{ right: boolean }[]>`select pg_has_role(${owner}, 'usage') as right`;
    return has?.right === true;
  };
  if (await isOwner()) return true;
  const [me] = await sql<{ name: string; version: number }[]>`
    select quote_ident(current_user) as name, current_setting('server_version_num')::int as version`;
  if (!me) throw new Error('Postgres did not say who this is');
  const options = me.version >= 160_000 ? 'with inherit true, set true' : '';
  await beside(() => sql.unsafe(`grant ${quoted(owner)} to ${me.name} ${options}`));
  return isOwner();
}

async function openSchema(sql: postgres.Sql, { schema, ...names }: Place): Promise<void> {
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
