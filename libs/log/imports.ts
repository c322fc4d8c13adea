/** Lists imports, over HTTP and by the operator, newest first, from their acts. */
import type { Database, Sql } from '#libs/base/db/database';
import { listOf } from '#libs/base/http/list';
import { endpoint } from '#libs/tenants/endpoint';
import type { ImportsPage } from './contract.ts';
import { logRoutes } from './routes.ts';

interface Parts {
  db: Database;
}

interface Noted {
  number: number;
  at: Date;
  actor: string;
  domainId: string;
  details: Omit<ImportsPage['imports'][number], 'at' | 'actor' | 'domainId'>;
}

export const getImports = endpoint(logRoutes.getImports, async ({ db }: Parts, { organization, query }) => {
  const { organizationId, cursorKey } = organization;
  const list = listOf('import', query, { cursorKey, domainId: '' });
  const { page, nextCursor } = await list((range) => db.read((sql) => readImports(sql, organizationId, range)));
  const imports = page.map(
    ({ at, actor, domainId, details: { importId, read, queued, known, rejected, isComplete } }) => ({
      importId,
      domainId,
      at: at.toISOString(),
      actor,
      read,
      queued,
      known,
      rejected,
      isComplete,
    }),
  );
  return { body: { imports, nextCursor } };
});

const readImports = (
  sql: Sql,
  organizationId: string,
  { limit, after }: { limit: number; after: number | undefined },
): Promise<Noted[]> => sql<Noted[]>`
  select id::float8 as number, at, actor, subject as "domainId", details from administrative_acts
  where organization_id = ${organizationId} and act = 'records.import' and id < ${after ?? Number.MAX_SAFE_INTEGER}
  order by id desc limit ${limit}`;
