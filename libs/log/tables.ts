import type { Table } from '#libs/base/db/tables';

export const tables: Table[] = [
  { name: 'visitor_counters', by: 'domain_number', personal: ['visitor_id'] },
  { name: 'busy_visitors', by: 'domain_number', personal: ['visitor_id'] },
];
