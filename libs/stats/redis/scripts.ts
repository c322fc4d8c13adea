/** The Lua scripts, as commands of the client that was given. */
import { readFileSync } from 'node:fs';
import type { RedisClient } from '#libs/base/redis/connection';

const lua = (name: string) => readFileSync(new URL(`./${name}.lua`, import.meta.url), 'utf8');
const sources = {
  assentRaise: lua('raise'),
  assentRead: lua('read'),
  assentSum: lua('sum'),
  assentReady: lua('ready'),
  assentDrop: lua('drop'),
  assentDiffer: lua('differ'),
  assentLease: lua('lease'),
};

type Script = (keyCount: number, ...keysAndArguments: (string | number)[]) => Promise<unknown>;
export type Scripts = Record<keyof typeof sources, Script>;

const isScripted = (client: RedisClient): client is RedisClient & Scripts => 'assentRaise' in client;

/** Defines the scripts on `client` once. */
export function scripted(client: RedisClient): RedisClient & Scripts {
  if (!isScripted(client))
    for (const [name, source] of Object.entries(sources)) client.defineCommand(name, { lua: source });
  if (!isScripted(client)) throw new Error('the client did not take the scripts');
  return client;
}
