/** Secrets from files: for each secret setting NAME there is NAME_FILE, as container engines hand them over. */
import { readFileSync } from 'node:fs';
import { BadSetting } from './bad-setting.ts';

/** The environment with what the files hold, without a line break at the end. An empty variable counts as not set. */
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
