/**
 * Grants the rights that rights.ts lists, and revokes all others. Only differences are changed, so a run that changes
 * nothing locks nothing.
 */
import type postgres from 'postgres';
import { rights } from './rights.ts';
import { quoted, type SchemaRoles } from './roles.ts';

interface Grant {
  table: string;
  role: string;
  /** as in rights.ts, such as `update(secrets)` */
  right: string;
}

const keyOf = ({ table, role, right }: Grant): string => `${table} ${role} ${right}`;

export async function grantRights(sql: postgres.Sql, names: SchemaRoles): Promise<boolean> {
  const { schema } = names;
  const existing = await listGrants(sql, names);
  const tables = new Set(
    (
      await sql<{ name: string }[]>`
        select relname as name from pg_class where relnamespace = quote_ident(${schema})::regnamespace and relkind in ('r', 'p')`
    ).map(({ name }) => name),
  );
  const wanted = Object.entries(rights)
    .filter(([table]) => tables.has(table))
    .flatMap(([table, { api, worker }]) => [
      ...api.map((right) => ({ table, role: names.api, right })),
      ...worker.map((right) => ({ table, role: names.worker, right })),
    ]);
  const wantedKeys = new Set(wanted.map(keyOf));
  const surplus = existing.filter((grant) => !wantedKeys.has(keyOf(grant)));
  // revoking a right on a table also revokes it on its columns
  const revoked = new Set(surplus.map(keyOf));
  const isRevoked = (grant: Grant) => revoked.has(keyOf({ ...grant, right: grant.right.replace(/\(.*/, '') }));
  const remaining = new Set(existing.filter((grant) => !isRevoked(grant)).map(keyOf));
  const changes = [
    ...surplus.map((grant) => statement('revoke', 'from', schema, grant)),
    ...wanted.filter((grant) => !remaining.has(keyOf(grant))).map((grant) => statement('grant', 'to', schema, grant)),
  ];
  if (changes.length === 0) return false;
  await sql.begin(async (transaction) => {
    for (const change of changes) await transaction.unsafe(change);
  });
  return true;
}

const statement = (verb: string, to: string, schema: string, { table, role, right }: Grant): string =>
  `${verb} ${right} on table ${quoted(schema)}.${quoted(table)} ${to} ${quoted(role)}`;

/** The rights of the API and the worker on the tables of the schema, including the months. */
const listGrants = (sql: postgres.Sql, { api, worker, schema }: SchemaRoles) => sql<Grant[]>`
  with tables as (
    select oid, relname, relacl from pg_class
    where relnamespace = quote_ident(${schema})::regnamespace and relkind in ('r', 'p')
      and (relname in ${sql(Object.keys(rights))} or relname ~ '^records_[0-9]{4}_[0-9]{2}$')
  ),
  granted as (
    select relname, acl.grantee, lower(acl.privilege_type) as "right" from tables cross join aclexplode(relacl) as acl
    union all
    select relname, acl.grantee, lower(acl.privilege_type) || '(' || attname || ')'
    from tables join pg_attribute on attrelid = tables.oid cross join aclexplode(attacl) as acl
  )
  select relname as "table", rolname as role, "right" from granted join pg_roles on pg_roles.oid = grantee
  where rolname in (${api}, ${worker})`;

/**
 * Running processes use new tables as soon as a migration creates them, such as in a trigger. So these are readable and
 * writable until `grantRights` runs. Only during a migration, since others may create tables in the schema.
 */
export async function withDefaultRights<T>(
  sql: postgres.Sql,
  { api, worker, schema }: SchemaRoles,
  work: () => Promise<T>,
): Promise<T> {
  const [roles] =
    await sql`select where to_regrole(${quoted(api)}) is not null and to_regrole(${quoted(worker)}) is not null`;
  if (!roles) return work();
  const change = (verb: string, to: string) =>
    sql.unsafe(
      `alter default privileges in schema ${quoted(schema)}
       ${verb} select, insert, update, delete on tables ${to} ${quoted(api)}, ${quoted(worker)}`,
    );
  await change('grant', 'to');
  return work().finally(() => change('revoke', 'from'));
}
