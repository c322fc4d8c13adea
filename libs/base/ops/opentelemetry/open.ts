/**
 * OpenTelemetry, only loaded if a process traces. Spans wait in a bounded queue and are dropped if the collector is slow or
 * away, so nothing waits for it.
 */
import { hostname } from 'node:os';
import { context, propagation, SpanKind, trace } from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  StackContextManager,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { within } from '../../timers.ts';
import type { Log } from '../process-log.ts';
import type { Tracing } from '../tracing.ts';
import { sayOnce } from './exporter.ts';
import { createSpans } from './spans.ts';

/** waiting spans above which new ones are dropped */
const maxQueueSize = 2_048;
/** milliseconds between two exports */
const exportEvery = 1_000;
/** milliseconds for one export, with its retries */
const exportPatience = 3_000;
/** milliseconds that a stopping process waits for the last export */
const stopPatience = 1_300;

interface TracingOptions {
  /** of the process: `assent-api`, `assent-worker` */
  service: string;
  /** the collector's OTLP/HTTP endpoint, without `/v1/traces` */
  endpoint: string;
  headers: Record<string, string>;
  /** the share of requests that are sampled, from 0 to 1 */
  ratio: number;
  log: Pick<Log, 'info' | 'warn'>;
  onFailure: () => void;
}

export function openTracing({ service, endpoint, headers, ratio, log, onFailure }: TracingOptions): Tracing {
  const url = `${endpoint.replace(/\/+$/, '')}/v1/traces`;
  // in a container this is the container's name
  const identity = { 'service.name': service, 'service.instance.id': `${hostname()}-${process.pid}` };
  const exporter = new OTLPTraceExporter({ url, headers, timeoutMillis: exportPatience });
  const provider = new TracerProvider({
    resource: defaultResource().merge(resourceFromAttributes(identity)),
    sampler: new ParentBasedSampler({ root: rootSampler(ratio) }),
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: sayOnce(exporter, log, onFailure),
        maxQueueSize,
        scheduledDelayMillis: exportEvery,
        exportTimeoutMillis: exportPatience,
      }),
    ],
  });
  // BullMQ creates its spans with the provider registered here
  trace.setGlobalTracerProvider(provider);
  // enough for reads before the first await; AsyncLocalStorage slows down every promise of Node 20
  context.setGlobalContextManager(new StackContextManager().enable());
  // without baggage, which anybody could fill
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  return {
    ...createSpans(trace.getTracer('assent')),
    close: () => within(stopPatience, provider.shutdown()).catch(() => {}),
  };
}

/** Only requests are sampled by chance; other spans originate from a sampled request. */
function rootSampler(ratio: number): Sampler {
  const [byRatio, always] = [new TraceIdRatioBasedSampler(ratio), new AlwaysOnSampler()];
  return {
    shouldSample: (parent, traceId, _name, kind) =>
      kind === SpanKind.SERVER ? byRatio.shouldSample(parent, traceId) : always.shouldSample(),
    toString: () => `requests by ${byRatio}`,
  };
}
