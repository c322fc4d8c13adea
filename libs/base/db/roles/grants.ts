/**
 * Grants what rights.ts says, and takes away what it does not say: only what differs, so that a run that changes nothing
 * locks nothing.
 */
import type postgres from 'postgres';
import { rights } from './rights.ts';
import { type Place, quoted } from './roles.ts';

interface Grant {
  table: string;
  role: string;
  /** as in rights.ts, such as `update(secrets)` */
  right: string;
}

const keyOf = ({ table, role, right }: Grant): string => `${table} ${role} ${right}`;

/** Returns whether anything differed. */
export async function grantRights(sql: postgres.Sql, names: Place): Promise<boolean> {
  const { schema } = names;
  const there = await listGrants(sql, names);
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
  const surplus = there.filter((grant) => !wantedKeys.has(keyOf(grant)));
  // a right of the table that is taken away takes those of its columns along
  const taken = new Set(surplus.map(keyOf));
  const isTaken = (grant: Grant) => taken.has(keyOf({ ...grant, right: grant.right.replace(/\(.*/, '') }));
  const kept = new Set(there.filter((grant) => !isTaken(grant)).map(keyOf));
  const changes = [
    ...surplus.map((grant) => statement('revoke', 'from', schema, grant)),
    ...wanted.filter((grant) => !kept.has(keyOf(grant))).map((grant) => statement('grant', 'to', schema, grant)),
  ];
  if (changes.length === 0) return false;
  await sql.begin(async (transaction) => {
    for (const change of changes) await transaction.unsafe(change);
  });
  return true;
}

const statement = (verb: string, to: string, schema: string, { table, role, right }: Grant): string =>
  `${verb} ${right} on table ${quoted(schema)}.${quoted(table)} ${to} ${quoted(role)}`;

/** What API and worker may do with the tables of the schema, months included. */
const listGrants = (sql: postgres.Sql, { api, worker, schema }: Place) => sql<Grant[]>`
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
 * What a migration makes is used by the processes that run as soon as it is there, such as in a trigger: until
 * `grantRights` it may be read and written. Only while we migrate, since others may make tables in the schema.
 */
export async function withDefaultRights<T>(
  sql: postgres.Sql,
  { api, worker, schema }: Place,
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
