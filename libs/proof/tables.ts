import type { Table } from '#libs/base/db/tables';

/** Sealing locks a domain's row in `logs` first, so `logs` comes before the runs. */
export const tables: Table[] = [
  { name: 'erasures_to_seal', by: 'domain_number' },
  { name: 'erasure_entries', by: 'domain_number' },
  { name: 'log_keys', by: 'domain_number' },
  { name: 'logs', by: 'domain_number' },
  { name: 'log_runs', by: 'domain_number' },
  { name: 'log_nodes', by: 'domain_number' },
  { name: 'log_texts', by: 'domain_number' },
  { name: 'stamped_checkpoints', by: 'domain_number' },
  { name: 'erased_commitments', by: 'domain_number' },
  { name: 'timestamps' },
  { name: 'timestamp_tries' },
  { name: 'log_server' },
];
