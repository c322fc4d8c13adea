/** What the rooms know of tracing. It is undefined where tracing is off, which then costs a comparison. */
import type { SpanContext } from '@opentelemetry/api';

/** What work came from: a span that is recorded. */
export interface Origin {
  span: SpanContext;
  /** the requests that this came from, where they were several */
  requests: readonly SpanContext[];
}

export interface RequestSpan {
  /** None, unless what it leads to may be recorded. */
  origins(): readonly Origin[];
  /** The caller has shown who they are, so the trace that they named goes on. */
  trust(): void;
  /** `route`: as it was registered, never the path itself */
  end(answer: { route: string; method: string; status: number }): void;
}

export interface Tracing {
  /** Undefined where the request is not sampled. */
  request(headers: { traceparent?: unknown; authorization?: unknown }): RequestSpan | undefined;
  /** As `inSpan`, with at least one origin. */
  span<T>(name: string, origins: readonly Origin[], counts: Counts, work: Work<T>): Promise<T>;
  /** Sends what waits, for as long as a stopping process can wait. */
  close(): Promise<void>;
}

/** `self`: the span, as the origin of what it does */
type Work<T> = (self: readonly Origin[]) => Promise<T>;
type Counts = Record<string, number>;

export const noOrigins: readonly Origin[] = [];

/** How many links a span may have, which is also OpenTelemetry's default. */
export const maxLinks = 128;

/**
 * Where `work` has one origin, its span is that one's child. Where it has several it begins a trace of its own, which
 * links to each. Where it has none, because nothing of it is sampled, it has no span.
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

/** The origins among those of `items`, each once. */
export function originsOf(items: readonly { origins: readonly Origin[] }[]): readonly Origin[] {
  const all = items.flatMap(({ origins }) => origins);
  return all.length < 2 ? all : [...new Map(all.map((origin) => [origin.span.spanId, origin])).values()];
}

/** What a span of these origins is the child of. */
export const parentOf = ([first, ...others]: readonly Origin[]): SpanContext | undefined =>
  others.length === 0 ? first?.span : undefined;

/** What a span of these origins links to: what it comes from directly first. */
export function linksOf(origins: readonly Origin[]): { context: SpanContext }[] {
  const direct = origins.length > 1 ? origins.map(({ span }) => span) : [];
  const all = [...direct, ...origins.flatMap(({ requests }) => requests)];
  return all.slice(0, maxLinks).map((context) => ({ context }));
}
