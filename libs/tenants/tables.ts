import type { Table } from '#libs/base/db/tables';
import { deleteActs } from './deletion.ts';

/**
 * When an organization is deleted, its rows in `domains` and `organizations` are deleted last, by `deletion.ts` itself;
 * their ids stay in `deleted_ids`.
 */
export const tables: Table[] = [
  { name: 'refused_origins', by: 'domain_number' },
  { name: 'ignored_fields', by: 'domain_number' },
  { name: 'visitor_acts', by: 'organization_number' },
  { name: 'administrative_acts', by: 'organization_id', deleteOf: deleteActs },
  { name: 'idempotent_answers', by: 'organization_number' },
  { name: 'revoked_tokens', by: 'organization_number' },
  { name: 'organization_people', by: 'organization_id' },
  { name: 'api_keys', by: 'domain_id' },
  { name: 'domains' },
  { name: 'organizations' },
  { name: 'plans' },
  { name: 'deleted_ids' },
];
