import type { Table } from '#libs/base/db/tables';

export const tables: Table[] = [
  { name: 'tombstones', by: 'organization_number' },
  { name: 'erasures', by: 'organization_number', personal: ['visitor_id'] },
];
