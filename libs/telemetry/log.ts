/** Structured logs: one JSON object a line, with what is personal or secret left out. */
import pino, { type Logger } from 'pino';

export type Log = Logger;

export const createLog = (name: string, level: string): Log =>
  pino({
    name,
    level,
    base: { name, pid: process.pid },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    redact: {
      paths: ['apiKey', 'token', 'visitorId', 'ip', '*.apiKey', '*.token', '*.visitorId', '*.ip'],
      censor: '…',
    },
    serializers: {
      // the driver's errors carry query parameters, which are visitors' records
      err: (error: unknown) => {
        if (!(error instanceof Error)) return { message: String(error) };
        const { name: kind, message, stack } = error;
        const code = 'code' in error ? { code: String(error.code) } : {};
        const cause = error.cause instanceof Error ? { cause: error.cause.message } : {};
        return { type: kind, message, ...code, ...cause, stack };
      },
    },
  });
