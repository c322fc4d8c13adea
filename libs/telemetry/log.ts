/**
 * Structured logs: one JSON object a line, with what is personal or secret left out.
 * `event` (snake_case) names a line that programs wait for; it stays when the text changes.
 */
import pino, { type DestinationStream, type Logger, type LoggerOptions } from 'pino';

export type Log = Logger;

const left = '…';
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

/** Secrets that found their way into a message: API keys, access tokens, and passwords in addresses of stores. */
const secrets = /\bak_[\w-]{22,}|\beyJ[\w-]+\.[\w-]+\.[\w-]*|(?<=:\/\/[^:@/\s"]*:)[^@/\s"]+(?=@)/g;

/** `destination`: standard output, unless a test reads along. */
export function createLog(
  name: string,
  level: string,
  // synchronous: at the end of the process an asynchronous one would wait for ever for a reader that is gone
  destination: DestinationStream = pino.destination({ fd: 1, sync: true }),
): Log {
  const options: LoggerOptions = {
    name,
    level,
    base: { name, pid: process.pid },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    redact: { paths: withheld, censor: left },
    serializers: { err: describeError },
    hooks: { streamWrite: (line) => line.replaceAll(secrets, left) },
  };
  return pino(options, destination);
}

/** The driver's errors carry query parameters, which are visitors' records: only these fields are told. */
function describeError(error: unknown): object {
  if (!(error instanceof Error)) return { message: String(error) };
  const { name: type, message, stack } = error;
  const code = 'code' in error ? { code: String(error.code) } : {};
  const cause = error.cause instanceof Error ? { cause: error.cause.message } : {};
  return { type, message, ...code, ...cause, stack };
}
