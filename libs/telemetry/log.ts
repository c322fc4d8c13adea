/** Structured logs: one JSON object a line, with what is personal or secret left out. */
import pino, { type Logger, type LoggerOptions } from 'pino';

export type Log = Logger;

export function createLog(name: string, level: string): Log {
  const options: LoggerOptions = {
    name,
    level,
    base: { name, pid: process.pid },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    redact: {
      paths: ['apiKey', 'token', 'visitorId', 'ip', '*.apiKey', '*.token', '*.visitorId', '*.ip'],
      censor: '…',
    },
    serializers: { err: describeError },
  };
  // synchronous: at the end of the process an asynchronous one would wait for ever for a reader that is gone
  return pino(options, pino.destination({ fd: 1, sync: true }));
}

/** The driver's errors carry query parameters, which are visitors' records: only these fields are told. */
function describeError(error: unknown): object {
  if (!(error instanceof Error)) return { message: String(error) };
  const { name: type, message, stack } = error;
  const code = 'code' in error ? { code: String(error.code) } : {};
  const cause = error.cause instanceof Error ? { cause: error.cause.message } : {};
  return { type, message, ...code, ...cause, stack };
}
