/** Tracing, as the rooms see it. It is undefined if tracing is off, which then costs one comparison. */
import type { SpanContext } from '@opentelemetry/api';

/** A recorded span from which work originates. */
export interface Origin {
  span: SpanContext;
  /** the requests that it originates from, if there are several */
  requests: readonly SpanContext[];
}

export interface RequestSpan {
  /** Empty if the work that the request causes must not be recorded. */
  origins(): readonly Origin[];
  /** The caller is authenticated, so the trace in their request is continued. */
  trust(): void;
  /** `route`: the pattern, never the path itself */
  end(response: { route: string; method: string; status: number }): void;
}

export interface Tracing {
  /** Undefined where the request is not sampled. */
  request(headers: { traceparent?: unknown; authorization?: unknown }): RequestSpan | undefined;
  /** As `inSpan`, with at least one origin. */
  span<T>(name: string, origins: readonly Origin[], counts: Counts, work: Work<T>): Promise<T>;
  /** Sends the waiting spans, within the time that a stopping process has. */
  close(): Promise<void>;
}

/** `self`: this span, as the origin of further work */
type Work<T> = (self: readonly Origin[]) => Promise<T>;
type Counts = Record<string, number>;

export const noOrigins: readonly Origin[] = [];

/** Maximum links of a span, which is also OpenTelemetry's default. */
export const maxLinks = 128;

/**
 * With one origin, the span is its child. With several, it starts a new trace that links to each. Without any, nothing is
 * sampled and there is no span.
 */
export function inSpan<T>(
  tracing: Tracing | undefined,
  name: string,
  origins: readonly Origin[],
  counts: Counts,
  work: Work<T>,
): Promise<T> {
  return tracing && origins.length > 0 ? tracing.span(name, origins, counts, work) : work(noOrigins);
}

/** The distinct origins of `items`. */
export function originsOf(items: readonly { origins: readonly Origin[] }[]): readonly Origin[] {
  const all = items.flatMap(({ origins }) => origins);
  return all.length < 2 ? all : [...new Map(all.map((origin) => [origin.span.spanId, origin])).values()];
}

/** The parent of a span with these origins. */
export const parentOf = ([first, ...others]: readonly Origin[]): SpanContext | undefined =>
  others.length === 0 ? first?.span : undefined;

/** The links of a span with these origins, the direct ones first. */
export function linksOf(origins: readonly Origin[]): { context: SpanContext }[] {
  const direct = origins.length > 1 ? origins.map(({ span }) => span) : [];
  const all = [...direct, ...origins.flatMap(({ requests }) => requests)];
  return all.slice(0, maxLinks).map((context) => ({ context }));
}
