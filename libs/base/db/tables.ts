/** Types for the `tables.ts` of each room (folder of `libs`), which lists the tables that only that room writes. */
import type { Database } from './database.ts';

/** An organization that is being deleted. */
export interface DeletedOrganization {
  organizationId: string;
  number: number;
  domains: { domainId: string; number: number }[];
}

export interface Table {
  name: string;
  /**
   * The column that identifies the owner of a row: an organization or a domain by its id or number, or the number of a row
   * `of` another table, which has the organization's id. Absent if rows have no owner.
   */
  by?: 'domain_number' | 'domain_id' | 'organization_number' | 'organization_id' | { column: string; of: string };
  /**
   * Deletes all rows of an organization where matching the column `by` is not enough. Yields the number of rows of each
   * statement.
   */
  deleteOf?: (db: Database, leaving: DeletedOrganization) => AsyncIterable<number>;
  /** Columns with a visitor's data: the test of erasing checks them. The room `privacy` erases them. */
  personal?: string[];
}

/** Tables of no room: of the scheduler and the settings, and those that only earlier releases write. */
export const tables: Table[] = [
  { name: 'tasks' },
  { name: 'key_fingerprints' },
  { name: 'housekeeping_tasks' },
  { name: 'bookmarks', by: 'domain_number' },
];
