import type { Table } from '#libs/base/db/tables';

export const tables: Table[] = [
  { name: 'banners', by: 'domain_number' },
  { name: 'banner_versions', by: 'domain_number' },
  { name: 'site_checks', by: 'domain_number' },
];
