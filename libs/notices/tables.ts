import type { Table } from '#libs/base/db/tables';

export const tables: Table[] = [
  { name: 'notices', by: 'domain_number' },
  { name: 'expected_notices', by: 'domain_number' },
  { name: 'notice_days', by: 'domain_number' },
  { name: 'notice_counting' },
];
