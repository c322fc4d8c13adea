import type { Table } from '#libs/base/db/tables';
import { deleteRecords, deleteRejections } from './delete-all.ts';

/** User agents that no record refers to any more are deleted by the worker later. */
export const tables: Table[] = [
  {
    name: 'records',
    by: 'domain_number',
    deleteOf: deleteRecords,
    personal: ['visitor_id', 'ip', 'user_agent_number', 'page_url', 'metadata'],
  },
  { name: 'rejected_records', deleteOf: deleteRejections, personal: ['record', 'error'] },
  { name: 'record_months' },
  { name: 'user_agents', personal: ['text'] },
  { name: 'user_agent_months' },
  { name: 'user_agents_to_look_for' },
  { name: 'user_agents_looked_for' },
  { name: 'user_agent_look' },
  { name: 'visitor_counters', by: 'domain_number', personal: ['visitor_id'] },
  { name: 'busy_visitors', by: 'domain_number', personal: ['visitor_id'] },
];
