/**
 * Structured logs: one JSON object per line, without personal data and secrets. `event` (snake_case) identifies a line for
 * programs and stays when the text changes.
 */
import pino, { type DestinationStream, type LoggerOptions } from 'pino';

export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

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

/** A response's request id leads to its log line, so a few requests that fail together get a line each. */
const requestBurst = 5;

/** Secrets inside a message: API keys, access tokens, and passwords in the URLs of Postgres and Redis. */
const secrets = /\bak_[\w-]{22,}|\beyJ[\w-]+\.[\w-]+\.[\w-]*|(?<=:\/\/[^:@/\s"]*:)[^@/\s"]+(?=@)/g;

/** A process's own log. */
export interface ProcessLog extends Log {
  /** `listener` is called for each suppressed line. */
  onSuppressed(listener: (level: 'warn' | 'error') => void): void;
}

/** Writes warnings and errors with the same text only once a second. */
export function createLog(
  name: string,
  level: string,
  {
    // synchronous: otherwise the process would not exit when its log is no longer read
    destination = pino.destination({ fd: 1, sync: true }),
  }: { destination?: DestinationStream } = {},
): ProcessLog {
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
  const logger = pino(options, destination);
  const admit = createLineLimit();
  let onSuppressed = (_: 'warn' | 'error') => {};
  const limited = (severity: 'warn' | 'error') => (fields: object, message: string) => {
    if (!logger.isLevelEnabled(severity)) return;
    const suppressed = admit(kindOf(fields, message), 'requestId' in fields ? requestBurst : 1);
    if (suppressed === null) onSuppressed(severity);
    else logger[severity](suppressed > 0 ? { ...fields, suppressed } : fields, message);
  };
  return {
    debug: (fields, message) => logger.debug(fields, message),
    info: (fields, message) => logger.info(fields, message),
    warn: limited('warn'),
    error: limited('error'),
    onSuppressed: (listener) => {
      onSuppressed = listener;
    },
  };
}

/**
 * Messages are constants, so a message is its own kind. All bugs share one message, so their kind includes the place where
 * they were thrown.
 */
function kindOf(fields: { event?: unknown; err?: unknown }, message: string): string {
  if (fields.event !== 'bug' || !(fields.err instanceof Error)) return message;
  return `${message} ${/\n\s+at .*/.exec(fields.err.stack ?? '')}`;
}

/** The driver's errors contain query parameters, which are visitors' records, so only these fields are logged. */
function describeError(error: unknown): object {
  if (!(error instanceof Error)) return { message: String(error) };
  const { name: type, message, stack } = error;
  const code = 'code' in error ? { code: String(error.code) } : {};
  const cause = error.cause instanceof Error ? { cause: error.cause.message } : {};
  return { type, message, ...code, ...cause, stack };
}

/** milliseconds */
const lineEvery = 1_000;
/** Kinds come from the code, so there are few. This bounds the memory if one should vary. */
const maxKinds = 1_000;

interface Kind {
  /** when the next line may be written, at one a second */
  due: number;
  suppressed: number;
}

/**
 * An outage under load causes thousands of equal lines a second. One of each kind is written per second, with the number of
 * suppressed lines. The returned function takes a line's kind and returns how many were suppressed before it; null:
 * suppress this one, too. `burst`: how many may be written at once.
 */
function createLineLimit(): (kind: string, burst: number) => number | null {
  const kinds = new Map<string, Kind>();
  return (kind, burst) => {
    const now = performance.now();
    const { due, suppressed } = kinds.get(kind) ?? { due: now, suppressed: 0 };
    const isEarly = now < due - (burst - 1) * lineEvery;
    if (kinds.size >= maxKinds) kinds.clear();
    kinds.set(
      kind,
      isEarly ? { due, suppressed: suppressed + 1 } : { due: Math.max(due, now) + lineEvery, suppressed: 0 },
    );
    return isEarly ? null : suppressed;
  };
}
