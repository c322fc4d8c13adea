/**
 * Reads and checks the settings from the environment. A secret may be in a file: each secret setting NAME also has
 * NAME_FILE, as container engines provide it.
 */
import { readFileSync } from 'node:fs';
import type { z } from 'zod';

/** Settings by the names of their environment variables. */
type SettingTable = Record<string, { schema: z.ZodType; default?: string; secret?: boolean }>;

export type ValuesOf<Table extends SettingTable> = {
  [Name in keyof Table]: z.infer<Table[Name]['schema']> | (Table[Name] extends { default: string } ? never : undefined);
};

/** An invalid setting. Its message is one line that names the setting; the process exits with it. */
export class BadSetting extends Error {}

export function refuse(name: string, rule: string): never {
  throw new BadSetting(`${name} must be ${rule}`);
}

/** Whether nobody between here and the address can change what is sent. */
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

/**
 * The environment with the contents of secret files, without a trailing line break. An empty variable counts as not set.
 */
export function withSecretFiles(
  table: Record<string, { schema: unknown; secret?: boolean }>,
  environment: NodeJS.ProcessEnv,
): NodeJS.ProcessEnv {
  const resolved = { ...environment };
  for (const [name, { secret }] of Object.entries(table)) {
    if (!secret) continue;
    const variable = `${name}_FILE`;
    const file = environment[variable];
    if (!file) continue;
    if (environment[name]) throw new BadSetting(`${variable} must be unset where ${name} is set`);
    resolved[name] = readSecret(variable, file);
    delete resolved[variable];
  }
  return resolved;
}

function readSecret(variable: string, file: string): string {
  let text: string;
  try {
    text = readFileSync(file, 'utf8').replace(/\r?\n$/, '');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? ` (${error.code})` : '';
    throw new BadSetting(`${variable} must be a file that can be read, not ${JSON.stringify(file)}${code}`);
  }
  if (text === '') throw new BadSetting(`${variable} must be a file with the secret in it; ${file} is empty`);
  return text;
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
