/** Whose acts a command's are: the system's user, which the environment cannot change. */
import { userInfo } from 'node:os';

/** `given`: with `--actor`, for a user without a name, as in a container that runs under another number. */
export function readActor(given: string | undefined, systemUser: () => { username: string } = userInfo): string {
  const name = nameOf(systemUser);
  if (name === undefined) {
    if (given?.trim()) return given.trim();
    throw new Error(`the system's user ${process.getuid?.() ?? ''} has no name: say who you are with --actor`);
  }
  if (given === undefined || given === name) return name;
  throw new Error(`--actor is for a system's user without a name, and this one is ${name}`);
}

function nameOf(systemUser: () => { username: string }): string | undefined {
  try {
    return systemUser().username || undefined;
  } catch {
    return undefined;
  }
}
