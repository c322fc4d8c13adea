import type { Table } from '#libs/base/db/tables';

export const tables: Table[] = [
  { name: 'webhook_deliveries', by: { column: 'webhook', of: 'webhooks' } },
  { name: 'webhook_lanes', by: { column: 'webhook', of: 'webhooks' } },
  { name: 'webhook_silences', by: { column: 'webhook', of: 'webhooks' } },
  { name: 'webhooks', by: 'organization_id' },
];
