/**
 * Fingerprints of the keys that this database is used with. The first process stores its own. A new key is accepted if it
 * comes with its predecessor, which stays valid until a process starts without it.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { within } from '../timers.ts';
import type { Database, Sql } from './database.ts';

/** Milliseconds between two tries while Postgres does not respond. */
const askEvery = 1_000;
/** Milliseconds to wait for Postgres at start. */
const startPatience = 2_000;

/** Keys that all processes have to share, by their settings. */
export type KeyName = 'PRIVACY_KEY' | 'SECRETS_KEY' | 'LOG_KEY' | 'IP_HASH_KEY';

export interface OwnKey {
  name: KeyName;
  fingerprint: string;
  /** of its predecessor: null if none is set, undefined if the process reads none */
  previous: string | null | undefined;
}

class OtherKey extends Error {
  constructor({ name }: Pick<OwnKey, 'name'>) {
    super(
      `${name} must be the key that this database is used with; docs/runbooks.md, "Rotate secrets", says how to change it`,
    );
  }
}

interface Noted {
  name: string;
  fingerprint: string;
  previous: string | null;
}

const list = (sql: Sql) => sql<Noted[]>`select name, fingerprint, previous from key_fingerprints`;

/** What to store about a process's key; undefined: nothing. Throws an OtherKey if the key is not in force. */
function judge(own: OwnKey, noted: Noted | undefined): Noted | undefined {
  const { name, fingerprint, previous } = own;
  if (!noted) return { name, fingerprint, previous: previous ?? null };
  // this process reads the setting for the previous key and finds it unset, so it was started after the rotation
  if (fingerprint === noted.fingerprint)
    return previous === null && noted.previous !== null ? { ...noted, previous: null } : undefined;
  if (previous === noted.fingerprint) return { name, fingerprint, previous };
  if (fingerprint === noted.previous) return undefined;
  throw new OtherKey(own);
}

/** For a process: compares its keys with the stored ones and stores new ones. Rejects with an OtherKey. */
async function noteKeys(db: Database, keys: OwnKey[]): Promise<void> {
  const judgeAll = (noted: Noted[]) =>
    keys.flatMap(
      (own) =>
        judge(
          own,
          noted.find(({ name }) => name === own.name),
        ) ?? [],
    );
  if (judgeAll(await db.read(list)).length === 0) return;
  await db.transaction(async (sql) => {
    await sql`select pg_advisory_xact_lock(hashtext('assent.key_fingerprints'))`;
    for (const { name, fingerprint, previous } of judgeAll(await list(sql))) {
      await sql`
        insert into key_fingerprints (name, fingerprint, previous) values (${name}, ${fingerprint}, ${previous})
        on conflict (name) do update set
          fingerprint = excluded.fingerprint, previous = excluded.previous, noted_at = clock_timestamp()`;
    }
  });
}

/** For a command: throws an OtherKey unless its keys are in force or come with those that are. Stores nothing. */
export async function requireKeys(sql: Sql, keys: OwnKey[]): Promise<void> {
  const noted = await list(sql);
  for (const own of keys) {
    const inForce = noted.find(({ name }) => name === own.name)?.fingerprint;
    if (inForce !== undefined && own.fingerprint !== inForce && own.previous !== inForce) throw new OtherKey(own);
  }
}

interface Comparing {
  /** Resolves after the first try, whether or not Postgres responded. Rejects with an OtherKey. */
  tried: Promise<void>;
  /** Resolves once the keys were compared. Rejects with an OtherKey. */
  compared: Promise<void>;
  close(): void;
}

/** Compares a process's keys as soon as Postgres responds and has the schema for it. */
export function compareKeys(db: Database, keys: OwnKey[]): Comparing {
  const closing = new AbortController();
  const first = keys.length > 0 ? noteKeys(db, keys) : Promise.resolve();
  const tried = within(startPatience, first).catch((error) => {
    if (error instanceof OtherKey) throw error;
  });
  const untilCompared = async (): Promise<void> => {
    for (let trying = first; ; trying = noteKeys(db, keys)) {
      try {
        return await trying;
      } catch (error) {
        if (error instanceof OtherKey) throw error;
        await pause(askEvery, undefined, { signal: closing.signal });
      }
    }
  };
  const compared = untilCompared();
  // so that an error does not count as unhandled before somebody awaits it
  for (const each of [tried, compared]) each.catch(() => {});
  return {
    tried,
    compared,
    close: () => closing.abort(),
  };
}

/** Rejects only with an OtherKey, and not if the process stops before it could compare. */
export const failingOf = ({ compared }: Pick<Comparing, 'compared'>): Promise<void> => {
  const failing = compared.catch((error) => {
    if (error instanceof OtherKey) throw error;
  });
  failing.catch(() => {});
  return failing;
};
