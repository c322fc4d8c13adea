/** Clocks that go wrong: of a process of ours, whose `Date` is shifted, and of Postgres, under Debian's faketime. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { findProgram } from '../stack/packages.ts';
import { reachableFolder, serviceUser, writeFor } from '../stack/service-user.ts';

export interface Clock {
  /** what the process whose clock it is has to be started with */
  env: Record<string, string>;
  /** Steps to so many milliseconds ahead of the machine's clock, or behind it. */
  set(ahead: number): void;
}

export function clockOfProcess(file: string): Clock {
  const set = (ahead: number) => writeFor(undefined, file, String(ahead));
  set(0);
  const preload = new URL('shifted-date.mjs', import.meta.url).href;
  return { env: { CLOCK_FILE: file, NODE_OPTIONS: `--import=${preload}` }, set };
}

/** Rejects with an Advice where there is no faketime. */
export async function clockOfPostgres(wanted: string): Promise<Clock> {
  const { folder: unpacked = '/' } = await findProgram({ names: ['faketime'], say: console.log });
  const libraries = path.join(unpacked, 'usr/lib');
  const library = readdirSync(libraries)
    .map((name) => path.join(libraries, name, 'faketime/libfaketime.so.1'))
    .find((file) => existsSync(file));
  if (!library) throw new Error(`faketime has no library below ${libraries}`);
  const user = serviceUser();
  const folder = reachableFolder(wanted, user);
  const [copy, file] = [path.join(folder, 'libfaketime.so.1'), path.join(folder, 'clock')];
  writeFor(user, copy, readFileSync(library));
  const set = (ahead: number) => writeFor(user, file, `${ahead < 0 ? '' : '+'}${Math.round(ahead / 1_000)}`);
  set(0);
  const env = {
    LD_PRELOAD: copy,
    FAKETIME_TIMESTAMP_FILE: file,
    // seconds
    FAKETIME_CACHE_DURATION: '1',
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
    NO_FAKE_STAT: '1',
  };
  return { env, set };
}
