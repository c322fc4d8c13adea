import type { Table } from '#libs/base/db/tables';

export const tables: Table[] = [
  { name: 'displays', by: 'domain_number' },
  { name: 'display_flushes' },
  { name: 'crawler_counters', by: 'domain_number' },
  { name: 'owed_raises', by: 'organization_id' },
  { name: 'counters', by: 'organization_id' },
  { name: 'facets', by: 'organization_number' },
  { name: 'facet_progress' },
];
