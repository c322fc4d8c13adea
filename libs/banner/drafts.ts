/** The draft of a domain's banner. */
import type { Sql } from '#libs/base/db/database';

export interface Draft {
  /** increases with each change; 0 if none was saved */
  version: number;
  /** JSON */
  text: string;
}

export async function findDraft(sql: Sql, domainNumber: number): Promise<Draft> {
  const [draft] = await sql<Draft[]>`select version, draft as text from banners where domain_number = ${domainNumber}`;
  return draft ?? { version: 0, text: '{}' };
}

/** `version`: the one that the caller expects, if any. Returns undefined if the draft has another version by now. */
export async function saveDraft(
  sql: Sql,
  domainNumber: number,
  text: string,
  version?: number,
): Promise<Draft | undefined> {
  const [saved] = await sql<Draft[]>`
    insert into banners as b (domain_number, version, draft) values (${domainNumber}, 1, ${text})
    on conflict (domain_number) do update set version = b.version + 1, draft = excluded.draft
    where ${version ?? null}::integer is null or b.version = ${version ?? null}
    returning version, draft as text`;
  return saved;
}
