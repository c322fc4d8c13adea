/** A server's WAL position and the history that it belongs to. A replica's lag is measured with them. */
import type { Sql } from './database.ts';

export interface Position {
  systemIdentifier: string;
  /** 8 hex digits, as in the names of WAL files */
  timeline: string;
  /** bytes of WAL since the cluster was created: flushed by a primary, replayed by a replica */
  wal: number;
}

export interface ReplicaPosition extends Omit<Position, 'wal'> {
  /** null if it is not a replica */
  wal: number | null;
  /** bytes of WAL received, replayed or not */
  received: number;
}

export async function primaryPosition(sql: Sql): Promise<Position> {
  const [row] = await sql<Position[]>`
    select system_identifier::text as "systemIdentifier", left(pg_walfile_name(flushed), 8) as timeline,
      pg_wal_lsn_diff(flushed, '0/0')::bigint as wal
    from pg_control_system(), pg_current_wal_flush_lsn() as flushed`;
  if (!row) throw new Error('the primary did not say where it is');
  return row;
}

/** After a failover it may name the new timeline only after a checkpoint. */
export async function replicaPosition(sql: Sql): Promise<ReplicaPosition> {
  const [row] = await sql<ReplicaPosition[]>`
    select system_identifier::text as "systemIdentifier",
      lpad(upper(to_hex(greatest(timeline_id, min_recovery_end_timeline))), 8, '0') as timeline,
      case when pg_is_in_recovery() then pg_wal_lsn_diff(replayed, '0/0')::bigint end as wal,
      -- what it received after a restart may begin before what it replayed
      coalesce(pg_wal_lsn_diff(greatest(pg_last_wal_receive_lsn(), replayed), '0/0'), 0)::bigint as received
    from pg_control_system(), pg_control_checkpoint(), pg_control_recovery(), pg_last_wal_replay_lsn() as replayed`;
  if (!row) throw new Error('the replica did not say where it is');
  return row;
}
