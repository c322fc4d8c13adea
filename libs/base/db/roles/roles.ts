/** The group roles, which cannot log in. They belong to the whole cluster, so another database may have created them. */
import postgres from 'postgres';

export interface RoleNames {
  /** owns everything in the schema */
  owner: string;
  /** the only role that may take on the owner's role, and does not inherit from it */
  keeper: string;
  worker: string;
  api: string;
}

export interface SchemaRoles extends RoleNames {
  /** the schema of the tables */
  schema: string;
}

export const roleNames = (prefix: string): RoleNames => ({
  owner: `${prefix}_owner`,
  keeper: `${prefix}_keeper`,
  worker: `${prefix}_worker`,
  api: `${prefix}_api`,
});

async function exists(sql: postgres.Sql, role: string): Promise<boolean> {
  const [found] = await sql`select from pg_roles where rolname = ${role}`;
  return found !== undefined;
}

/** Returns the roles that were missing. */
export async function createRoles(sql: postgres.Sql, { owner, keeper, worker, api }: RoleNames): Promise<string[]> {
  const created: string[] = [];
  for (const [name, kind] of [
    [owner, 'nologin'],
    [keeper, 'nologin noinherit'],
    [worker, 'nologin'],
    [api, 'nologin'],
  ] as const) {
    if (await exists(sql, name)) continue;
    await ignoreConflicts(() => sql.unsafe(`create role "${name}" ${kind}`));
    created.push(name);
  }
  return created;
}

export async function isMember(sql: postgres.Sql, group: string, member: string): Promise<boolean> {
  const { count } = await sql`
    select from pg_auth_members where roleid = to_regrole(${quoted(group)}) and member = to_regrole(${quoted(member)})`;
  return count > 0;
}

export async function join(sql: postgres.Sql, group: string, member: string): Promise<void> {
  if (!(await isMember(sql, group, member)))
    await ignoreConflicts(() => sql.unsafe(`grant ${quoted(group)} to ${quoted(member)}`));
}

/** Quoted as an identifier. */
export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/**
 * Another database of the cluster may be changing the same roles: what it has created exists, and a row that it is changing
 * is free again soon.
 */
export async function ignoreConflicts(work: () => Promise<unknown>): Promise<void> {
  for (let left = 20; ; left -= 1) {
    try {
      await work();
      return;
    } catch (error) {
      const code = error instanceof postgres.PostgresError ? error.code : '';
      // duplicate_object, unique_violation
      if (code === '42710' || code === '23505') return;
      // "tuple concurrently updated"
      if (code !== 'XX000' || left === 0) throw error;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}
