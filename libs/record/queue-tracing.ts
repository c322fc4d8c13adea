/**
 * A trace's way through a queue, with BullMQ's own spans by `bullmq-otel`. Of these there are two, `queue record` and
 * `process record`, and only for jobs with a request that is sampled: BullMQ's others would make a trace of every look for
 * work. A job carries in its options (`tm`) what it comes from; a worker that does not trace passes over it.
 */
import {
  type Context,
  context,
  createContextKey,
  ROOT_CONTEXT,
  type SpanContext,
  SpanKind,
  trace,
} from '@opentelemetry/api';
import type { Telemetry } from 'bullmq';
import { BullMQOtel } from 'bullmq-otel';
import { linksOf, noOrigins, type Origin, parentOf } from '#libs/base/ops/tracing';
import { addRequests, requestsIn } from './carried-trace.ts';
import { JobSpan, unrecorded } from './job-span.ts';

export interface QueueTracing {
  telemetry: Telemetry<Context>;
  /** Adds a job that comes from these. */
  adding<T>(origins: readonly Origin[], add: () => Promise<T>): Promise<T>;
  /** Of the job that is being taken in hand: asked before anything is waited for. */
  origins(): readonly Origin[];
}

/** BullMQ's kinds of spans have the same numbers. Its own enumeration would split BullMQ from the process's one file. */
const producer: number = SpanKind.PRODUCER;
const consumer: number = SpanKind.CONSUMER;

/** What a job is made of, and the requests among it where they are several. */
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
