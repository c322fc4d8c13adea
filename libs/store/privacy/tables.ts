import type { Table } from '../tables.ts';

export const tables: Table[] = [
  { name: 'tombstones', by: 'organization_number' },
  { name: 'erasures', by: 'organization_number', personal: ['visitor_id'] },
];
