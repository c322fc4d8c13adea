/** Reads the settings from the environment and checks every one of them. */
import type { z } from 'zod';
import { BadSetting } from './bad-setting.ts';
import { withSecretFiles } from './secret-files.ts';

/** Settings by the names of their environment variables. */
type SettingTable = Record<string, { schema: z.ZodType; default?: string; secret?: boolean }>;

export type ValuesOf<Table extends SettingTable> = {
  [Name in keyof Table]: z.infer<Table[Name]['schema']> | (Table[Name] extends { default: string } ? never : undefined);
};

export function refuse(name: string, rule: string): never {
  throw new BadSetting(`${name} must be ${rule}`);
}

/** Whether nobody on the way can change what is sent to it. */
export function isSafeAddress(address: string): boolean {
  const { protocol, hostname } = new URL(address);
  const isHere = hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname);
  return protocol === 'https:' || isHere;
}

/** An empty variable counts as not set. A secret's value is never quoted in the error. */
export function readSettings<Table extends SettingTable>(
  table: Table,
  given: NodeJS.ProcessEnv = process.env,
): ValuesOf<Table> {
  const environment = withSecretFiles(table, given);
  const entries = Object.entries(table).map(([name, { schema, default: fallback, secret }]) => {
    const text = environment[name] || fallback;
    if (text === undefined) return [name, undefined];
    const result = schema.safeParse(text);
    if (result.success) return [name, result.data];
    const rule = String(schema.meta()?.rule ?? 'valid');
    return refuse(name, secret ? rule : `${rule}, not ${JSON.stringify(text)}`);
  });
  return Object.fromEntries(entries) as ValuesOf<Table>;
}

/** Reads a process's configuration, or ends the process with one line that names the invalid setting. */
export function readOrExit<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    return exitOn(error);
  }
}

export function exitOn(error: unknown): never {
  if (!(error instanceof BadSetting)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exit(1);
}
