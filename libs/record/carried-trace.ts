/** What a job carries of its trace beside W3C's `traceparent`: its requests, where they are several. */
import type { SpanContext } from '@opentelemetry/api';
import { parseTraceParent } from '@opentelemetry/core';
import { maxLinks } from '#libs/base/ops/tracing';

export function addRequests(metadata: string, requests: readonly SpanContext[]): string {
  if (requests.length === 0) return metadata;
  const texts = requests.slice(0, maxLinks).map(({ traceId, spanId }) => `00-${traceId}-${spanId}-01`);
  return JSON.stringify({ ...JSON.parse(metadata), requests: texts });
}

/** Undefined for what is no trace of ours: a job is stored whatever it says. */
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
