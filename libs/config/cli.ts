/** What the command line reads. */
import { readConnections, readSettings, refuse } from './read.ts';
import { readTokens } from './token-keys.ts';

/**
 * Each part on its own, since no command needs all of them. `stack`: the settings of a running `npm start`, which count
 * where the environment itself names no store; what it does name always wins.
 */
export function readCliConfig(stack: Record<string, string>, given: NodeJS.ProcessEnv = process.env) {
  const own = given.DATABASE_URL || given.REDIS_URL || given.REDIS_CLUSTER_NODES;
  const environment = own ? given : { ...stack, ...given };
  const values = readSettings(environment);
  return {
    connections: () => readConnections(values),
    database: () => ({
      url: values.DATABASE_URL ?? refuse('DATABASE_URL', 'set: the address of Postgres'),
      prepare: values.DATABASE_PREPARE,
    }),
    /** Signing takes the secret itself; public keys only verify. */
    signing: () => ({ ...readTokens(values) }),
    actor: environment.SUDO_USER || environment.USER || environment.LOGNAME || 'operator',
  };
}

export type CliConfig = ReturnType<typeof readCliConfig>;
