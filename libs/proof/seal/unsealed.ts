/** Records that have no position yet, as their entries are made of them. */

import type { Sql } from '#libs/base/db/database';
import { columnOf, storedFields } from '#libs/record/fields';
import type { SealedRecord } from '../tree/entry.ts';

/** A record as its entry is made of it, with numbers in place of its domain, user agent and notice. */
export type Unsealed = Omit<SealedRecord, 'domainId' | 'decidedAt' | 'preferences' | 'userAgent' | 'notice'> & {
  domainNumber: number;
  /** as Postgres writes it */
  preferences: string | null;
  userAgentNumber: number | null;
  noticeNumber: number | null;
};

/** To parse and write one takes as long as to hash an entry. */
const asText = new Set(['receivedAt', 'importedAt', 'preferences']);

/** User agents and notices by number: few stand in nearly all records. */
const read = ['domainNumber', ...storedFields]
  .map((field) => `r.${columnOf(field)}${asText.has(field) ? '::text' : ''} as "${field}"`)
  .join(', ');

const columns = (sql: Sql) => sql.unsafe(read);

/** In the order of their positions: by domain, then id. */
export const readEpoch = (sql: Sql, epoch: number, domainNumbers: number[]): Promise<Unsealed[]> => sql<Unsealed[]>`
  select ${columns(sql)}
  from records r
  where r.epoch = ${epoch} and r.domain_number = any (${domainNumbers})
  order by r.domain_number, r.id`;

/** One domain's records with these ids (16 bytes each), in their order. */
export const readById = (sql: Sql, domainNumber: number, ids: Uint8Array): Promise<Unsealed[]> => sql<Unsealed[]>`
  select ${columns(sql)}
  from generate_series(1, ${ids.length}, 16) as at
  join records r on r.domain_number = ${domainNumber}
    and r.id = encode(substr(${Buffer.from(ids)}::bytea, at, 16), 'hex')::uuid
  order by at`;
