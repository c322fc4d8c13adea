import type { Table } from '../tables.ts';

export const tables: Table[] = [
  { name: 'notices', by: 'domain_number' },
  { name: 'notice_days', by: 'domain_number' },
  { name: 'notice_counting' },
];
