/** The replica for reads, if there is one, with the connections that poll it and the primary. */

import { createDatabase, type DatabaseOptions } from '#libs/base/db/database';
import { createReplica, type Replica, type ReplicaParts } from '#libs/base/db/replica';
import type { ApiConfig } from '../settings/api.ts';

/** A read that takes longer is retried on the primary, within the same request. */
const timeouts = { statementTimeout: 1_500, deadline: 1_700 };
/**
 * Long enough to connect to a distant primary with TLS, which takes many round trips. A poll waits at most 500 ms for it.
 */
const positionTimeouts = { statementTimeout: 400, deadline: 3_500 };

interface Parts extends Pick<ReplicaParts, 'primary' | 'log' | 'onLook'> {
  /** the most connections to the replica */
  connections: number;
}

export function openReplica(config: Omit<ApiConfig, 'opsPort'>, { connections, ...parts }: Parts): Replica | undefined {
  if (!config.replica) return undefined;
  const { url, maxLag } = config.replica;
  const open = (own: Omit<DatabaseOptions, 'prepare' | 'pooled'>) => createDatabase({ ...config.databaseMode, ...own });
  return createReplica({
    ...parts,
    position: open({ url: config.databaseUrl, max: 1, ...positionTimeouts, name: 'assent-api-position' }),
    replica: open({ url, max: connections, ...timeouts, name: 'assent-api' }),
    maxLag,
  });
}
