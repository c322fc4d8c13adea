/** What each room says in its `tables.ts`: the tables that it alone writes. */
import type { Database } from './database.ts';

/** An organization that is being deleted. */
export interface Leaving {
  organizationId: string;
  number: number;
  domains: { domainId: string; number: number }[];
}

export interface Table {
  name: string;
  /**
   * The column that says whose a row is: an organization's or a domain's by its id or number, or the number of a row `of`
   * another table, which has the organization's id. None where rows are nobody's.
   */
  by?: 'domain_number' | 'domain_id' | 'organization_number' | 'organization_id' | { column: string; of: string };
  /** Deletes all rows of an organization, where that takes more than the column. Yields how many went in each statement. */
  deleteOf?: (db: Database, leaving: Leaving) => AsyncIterable<number>;
  /** The columns that hold a visitor's data: the test of erasing looks there. What takes the data out is in `privacy`. */
  personal?: string[];
}

/** Those of no room: of the scheduler and the settings, and what only releases before this one write. */
export const tables: Table[] = [
  { name: 'tasks' },
  { name: 'key_fingerprints' },
  { name: 'housekeeping_tasks' },
  { name: 'bookmarks', by: 'domain_number' },
];
