/**
 * The rights of the API and the worker on each table. The owner's role owns them all, or the migrating login if it may not
 * arrange roles. Locking a row requires the right to update some column: if nothing else may be changed, it is a harmless
 * one. An empty list: that process does not use the table.
 */

/** A right on a whole table, or on one of its columns. */
type Right = 'select' | 'insert' | 'update' | 'delete' | `update(${string})`;

interface Rights {
  api: readonly Right[];
  worker: readonly Right[];
}

const none: Right[] = [];
const read: Right[] = ['select'];
const add: Right[] = ['select', 'insert'];
const write: Right[] = ['select', 'insert', 'update'];
const all: Right[] = ['select', 'insert', 'update', 'delete'];
/** to lock rows; the column is an identity, so it cannot be set to another value */
const lock: Right = 'update(number)';

export const rights: Record<string, Rights> = {
  schema_migrations: { api: read, worker: read },

  // plans and organizations: the first setup in the browser creates one of each; only the command line changes them
  plans: { api: add, worker: read },
  // creating many domains sets one column
  organizations: { api: [...add, lock, 'update(log_indexed_since)'], worker: read },
  domains: { api: write, worker: [...read, lock] },
  deleted_ids: { api: read, worker: read },
  // people, their rights and their actions; to `administrative_acts` the worker only adds that it disabled a webhook
  api_keys: { api: write, worker: none },
  revoked_tokens: { api: all, worker: none },
  organization_people: { api: all, worker: none },
  people: { api: all, worker: none },
  person_sessions: { api: all, worker: none },
  person_links: { api: all, worker: none },
  person_passkeys: { api: all, worker: none },
  used_challenges: { api: [...add, 'delete'], worker: none },
  administrative_acts: { api: add, worker: ['insert'] },
  idempotent_answers: { api: write, worker: [...read, 'delete'] },
  visitor_acts: { api: add, worker: none },
  refused_origins: { api: all, worker: none },
  ignored_fields: { api: all, worker: none },
  widget_files: { api: add, worker: none },
  key_fingerprints: { api: write, worker: write },

  // its partitions are only accessed through it
  records: { api: write, worker: write },
  record_months: { api: read, worker: [...read, 'update'] },
  rejected_records: { api: add, worker: all },
  user_agents: { api: [...add, lock], worker: [...add, 'delete', lock] },
  user_agent_months: { api: add, worker: [...add, 'delete'] },
  user_agents_to_look_for: { api: write, worker: all },
  user_agents_looked_for: { api: none, worker: all },
  user_agent_look: { api: none, worker: all },
  banners: { api: write, worker: none },
  banner_versions: { api: add, worker: none },
  site_checks: { api: [...add, 'delete'], worker: none },
  expected_notices: { api: add, worker: none },
  notices: { api: write, worker: all },
  notice_days: { api: read, worker: all },
  notice_counting: { api: none, worker: write },

  counters: { api: write, worker: write },
  crawler_counters: { api: write, worker: write },
  owed_raises: { api: write, worker: all },
  busy_visitors: { api: [...add, 'delete'], worker: all },
  visitor_counters: { api: all, worker: all },
  facets: { api: read, worker: write },
  facet_progress: { api: none, worker: write },
  displays: { api: add, worker: [...read, 'delete'] },
  display_flushes: { api: add, worker: [...read, 'delete'] },

  epochs: { api: read, worker: [...read, 'update'] },
  closed_epochs: { api: read, worker: all },
  derivations: { api: read, worker: write },
  tasks: { api: none, worker: write },
  // used by processes of 0.1.0
  bookmarks: { api: none, worker: none },
  housekeeping_tasks: { api: none, worker: none },

  // the worker creates proofs; erasing locks a log and deletes its secrets
  logs: { api: [...read, 'update(sealed_at)'], worker: write },
  log_runs: { api: [...read, 'update(secrets)'], worker: all },
  log_nodes: { api: read, worker: add },
  log_keys: { api: read, worker: add },
  log_texts: { api: read, worker: [...add, 'delete'] },
  log_server: { api: none, worker: write },
  timestamps: { api: read, worker: add },
  stamped_checkpoints: { api: read, worker: add },
  timestamp_tries: { api: none, worker: write },

  tombstones: { api: write, worker: [...read, 'update', 'delete'] },
  erasures: { api: write, worker: [...read, 'update'] },
  erasures_to_seal: { api: add, worker: [...add, 'delete'] },
  erasure_entries: { api: read, worker: [...add, 'delete'] },
  erased_commitments: { api: add, worker: add },

  webhooks: { api: all, worker: [...read, 'update'] },
  webhook_lanes: { api: all, worker: all },
  webhook_silences: { api: none, worker: write },
  webhook_deliveries: { api: [...read, 'delete'], worker: [...add, 'delete'] },
};

/** The functions of the schema. Those of `asOwner` are `security definer`: they do what the API and the worker may not. */
export const functions = {
  asOwner: ['make_record_month'],
  others: [
    'add_user_agents',
    'csv_cell',
    'current_records',
    'forget_samples',
    'id_at',
    'index_large_organization',
    'last_of_span',
    'lock_administrative_acts',
    'milliseconds_of',
    'name_notices',
    'named_since',
    'next_domains',
    'open_epoch',
    'place_among',
    'put_notice',
    'record_hash',
  ],
};

export const types = ['decision', 'dimension', 'source'];
