/**
 * Structured logs: one JSON object a line, without personal data and secrets.
 * `event` (snake_case) names a line that programs wait for; it stays when the text changes.
 */
import pino, { type DestinationStream, type LoggerOptions } from 'pino';
import type { Log } from '#libs/runtime/log';

export type { Log };

const censored = '…';
const withheld = [
  'apiKey',
  'token',
  'authorization',
  '["x-api-key"]',
  'cookie',
  'visitorId',
  'ip',
  'address',
  'remoteAddress',
].flatMap((name) => (name.startsWith('[') ? [name, `*${name}`, `*.*${name}`] : [name, `*.${name}`, `*.*.${name}`]));

/** Secrets inside a message: API keys, access tokens, and passwords in the URLs of Postgres and Redis. */
const secrets = /\bak_[\w-]{22,}|\beyJ[\w-]+\.[\w-]+\.[\w-]*|(?<=:\/\/[^:@/\s"]*:)[^@/\s"]+(?=@)/g;

/** `destination`: standard output; tests pass their own. */
export function createLog(
  name: string,
  level: string,
  // synchronous: an asynchronous one would keep the process from exiting when its reader is gone
  destination: DestinationStream = pino.destination({ fd: 1, sync: true }),
): Log {
  const options: LoggerOptions = {
    name,
    level,
    base: { name, pid: process.pid },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    redact: { paths: withheld, censor: censored },
    serializers: { err: describeError },
    hooks: { streamWrite: (line) => line.replaceAll(secrets, censored) },
  };
  return pino(options, destination);
}

/** The driver's errors carry the query's parameters, which are visitors' records: only these fields are logged. */
function describeError(error: unknown): object {
  if (!(error instanceof Error)) return { message: String(error) };
  const { name: type, message, stack } = error;
  const code = 'code' in error ? { code: String(error.code) } : {};
  const cause = error.cause instanceof Error ? { cause: error.cause.message } : {};
  return { type, message, ...code, ...cause, stack };
}
