/** Transfers the tables, types and functions of the migrations to the owner's role while processes use them. */
import type postgres from 'postgres';
import { withShortLocks } from '../short-locks.ts';
import { functions, rights, types } from './rights.ts';
import { quoted, type SchemaRoles } from './roles.ts';

/**
 * Tables first, since a `security definer` function only works once its owner has the tables. Returns whether a table was
 * transferred.
 */
export async function giveToOwner(sql: postgres.Sql, names: SchemaRoles): Promise<boolean> {
  const tables = await giveTables(sql, names);
  for (const type of await listTypes(sql, names))
    await sql.unsafe(`alter type ${type} owner to ${quoted(names.owner)}`);
  for (const name of await listFunctions(sql, names))
    await sql.unsafe(`alter function ${name} owner to ${quoted(names.owner)}`);
  await makeSecurityDefiner(sql, names);
  // months that were created meanwhile by a function that still belonged to another role
  return (await giveTables(sql, names)) || tables;
}

async function giveTables(sql: postgres.Sql, { owner, schema }: SchemaRoles): Promise<boolean> {
  const tables = await sql<{ name: string }[]>`
    select oid::regclass::text as name from pg_class
    where relnamespace = quote_ident(${schema})::regnamespace and relkind in ('r', 'p')
      and (relname in ${sql(Object.keys(rights))} or relname ~ '^records_[0-9]{4}_[0-9]{2}$')
      and relowner <> to_regrole(${quoted(owner)})
    order by relname`;
  for (const { name } of tables) await withShortLocks(sql, [`alter table if exists ${name} owner to ${quoted(owner)}`]);
  return tables.length > 0;
}

async function listTypes(sql: postgres.Sql, { owner, schema }: SchemaRoles): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`
    select oid::regtype::text as name from pg_type
    where typnamespace = quote_ident(${schema})::regnamespace and typname in ${sql(types)} and typtype = 'e'
      and typowner <> to_regrole(${quoted(owner)})`;
  return rows.map(({ name }) => name);
}

async function listFunctions(sql: postgres.Sql, { owner, schema }: SchemaRoles): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`
    select oid::regprocedure::text as name from pg_proc
    where pronamespace = quote_ident(${schema})::regnamespace and proname in ${sql([...functions.asOwner, ...functions.others])}
      and proowner <> to_regrole(${quoted(owner)})`;
  return rows.map(({ name }) => name);
}

/**
 * Makes these functions `security definer`, with only our schema on their search path. A migration that replaces one resets
 * that.
 */
async function makeSecurityDefiner(sql: postgres.Sql, { api, worker, schema }: SchemaRoles): Promise<void> {
  const rows = await sql<{ name: string }[]>`
    select oid::regprocedure::text as name from pg_proc
    where pronamespace = quote_ident(${schema})::regnamespace and proname in ${sql(functions.asOwner)}
      -- without an access list (null, as after a restore) everybody may execute it
      and not (
        prosecdef and proacl is not null and not exists (select from aclexplode(proacl) where grantee = 0)
        and has_function_privilege(${api}, oid, 'execute') and has_function_privilege(${worker}, oid, 'execute')
      )`;
  for (const { name } of rows)
    await sql.begin(async (transaction) => {
      await transaction.unsafe(`alter function ${name} security definer set search_path = ${quoted(schema)}, pg_temp`);
      await transaction.unsafe(`revoke execute on function ${name} from public`);
      await transaction.unsafe(`grant execute on function ${name} to ${quoted(api)}, ${quoted(worker)}`);
    });
}
