/**
 * Carries a trace through a queue with BullMQ's own spans. Only `queue record` and `process record` are kept, and only for
 * jobs with a sampled request: the others would start a trace for every poll. The job's option `tm` holds its origins; a
 * worker without tracing ignores it.
 */

import {
  type Context,
  context,
  createContextKey,
  ROOT_CONTEXT,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { parseTraceParent } from '@opentelemetry/core';
import type { Span, Telemetry } from 'bullmq';
import { BullMQOTelSpan, BullMQOtel } from 'bullmq-otel';
import { linksOf, maxLinks, noOrigins, type Origin, parentOf } from '#libs/base/ops/tracing';

export interface QueueTracing {
  telemetry: Telemetry<Context>;
  /** Adds a job that comes from these. */
  adding<T>(origins: readonly Origin[], add: () => Promise<T>): Promise<T>;
  /** The origins of the job being processed. Call it before the first `await`. */
  origins(): readonly Origin[];
}

/**
 * OpenTelemetry's kinds have the same numbers as BullMQ's. We avoid BullMQ's enum: importing it would keep the bundler from
 * putting BullMQ into the process's single file.
 */
const producer: number = SpanKind.PRODUCER;
const consumer: number = SpanKind.CONSUMER;

/** The origins of a job, and its requests if there are several. */
class Carried {
  readonly origins: readonly Origin[];
  readonly requests: readonly SpanContext[];
  constructor(origins: readonly Origin[], requests: readonly SpanContext[]) {
    this.origins = origins;
    this.requests = requests;
  }
}

const key = createContextKey('assent: what a job comes from');
const nothing = new Carried([], []);

function carriedBy(given: Context): Carried {
  const carried = given.getValue(key);
  return carried instanceof Carried ? carried : nothing;
}

export function createQueueTracing(): QueueTracing {
  const tracer = trace.getTracer('assent');
  const { contextManager } = new BullMQOtel();

  const startAdding = () => {
    const { origins } = carriedBy(context.active());
    if (origins.length === 0) return unrecorded;
    const parent = parentOf(origins);
    const from = parent ? trace.setSpanContext(ROOT_CONTEXT, parent) : ROOT_CONTEXT;
    return new JobSpan(tracer.startSpan('queue record', { kind: SpanKind.PRODUCER, links: linksOf(origins) }, from));
  };
  const startProcessing = (from: Context | undefined) => {
    if (!from || !trace.getSpanContext(from)) return unrecorded;
    return new JobSpan(tracer.startSpan('process record', { kind: SpanKind.CONSUMER }, from));
  };

  return {
    telemetry: {
      tracer: {
        startSpan: (_, options, from) => {
          if (options?.kind === producer) return startAdding();
          return options?.kind === consumer ? startProcessing(from) : unrecorded;
        },
      },
      contextManager: {
        active: () => contextManager.active(),
        with: (given, work) => contextManager.with(given, work),
        root: () => ROOT_CONTEXT,
        getMetadata: (given) =>
          // a job of which nothing is sampled gets no bytes
          trace.getSpanContext(given) ? addRequests(contextManager.getMetadata(given), carriedBy(given).requests) : '',
        fromMetadata: (_, metadata) => {
          const requests = requestsIn(metadata);
          if (!requests) return ROOT_CONTEXT;
          return contextManager.fromMetadata(ROOT_CONTEXT, metadata).setValue(key, new Carried([], requests));
        },
      },
    },
    adding: (origins, add) => {
      const requests = origins.length > 1 ? origins.map(({ span }) => span) : [];
      return context.with(ROOT_CONTEXT.setValue(key, new Carried(origins, requests)), add);
    },
    origins: () => {
      const span = trace.getSpanContext(context.active());
      return span ? [{ span, requests: carriedBy(context.active()).requests }] : noOrigins;
    },
  };
}

/** BullMQ's span without what it writes about errors and results, which may quote what was sent. */
class JobSpan extends BullMQOTelSpan {
  override addEvent(name: string): void {
    if (name === 'job failed') this.span.setStatus({ code: SpanStatusCode.ERROR });
  }
  override recordException(): void {
    this.span.setStatus({ code: SpanStatusCode.ERROR });
  }
}

const unrecorded: Span<Context> = {
  setSpanOnContext: (given) => given,
  setAttribute: () => {},
  setAttributes: () => {},
  addEvent: () => {},
  recordException: () => {},
  end: () => {},
};

/** A job's metadata: W3C's `traceparent`, and its requests if there are several. */
export function addRequests(metadata: string, requests: readonly SpanContext[]): string {
  if (requests.length === 0) return metadata;
  const texts = requests.slice(0, maxLinks).map(({ traceId, spanId }) => `00-${traceId}-${spanId}-01`);
  return JSON.stringify({ ...JSON.parse(metadata), requests: texts });
}

/** Undefined for metadata that is not ours: it does not keep a job from being stored. */
export function requestsIn(metadata: string): SpanContext[] | undefined {
  const carried = parse(metadata);
  if (typeof carried !== 'object' || carried === null) return undefined;
  const requests: unknown[] = 'requests' in carried && Array.isArray(carried.requests) ? carried.requests : [];
  return requests
    .slice(0, maxLinks)
    .flatMap((text) => (typeof text === 'string' ? (parseTraceParent(text) ?? []) : []));
}

function parse(metadata: string): unknown {
  try {
    return JSON.parse(metadata);
  } catch {
    return undefined;
  }
}
