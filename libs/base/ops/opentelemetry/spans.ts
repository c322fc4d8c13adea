/** Our spans: of a request, and of work that originates from one or several. They contain no visitor's data. */
import { ROOT_CONTEXT, type Span, SpanKind, SpanStatusCode, type Tracer, trace } from '@opentelemetry/api';
import { parseTraceParent } from '@opentelemetry/core';
import { linksOf, noOrigins, type Origin, parentOf, type RequestSpan, type Tracing } from '../tracing.ts';

const originOf = (span: Span): Origin => ({ span: span.spanContext(), requests: [] });

/** Without the error's message, which may quote what was sent. */
function fail(span: Span, kind: string): void {
  span.setStatus({ code: SpanStatusCode.ERROR });
  span.setAttribute('error.type', kind);
}

const kindOf = (error: unknown): string => {
  if (!(error instanceof Error)) return '_OTHER';
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
};

export function createSpans(tracer: Tracer): Omit<Tracing, 'close'> {
  return {
    request: ({ traceparent, authorization }) => {
      const named = typeof traceparent === 'string' ? parseTraceParent(traceparent) : null;
      // An API key is public, so without an Authorization header the caller's trace is not continued: the span starts a new
      // trace that only links to it.
      const goesOn = named !== null && authorization !== undefined;
      const span = tracer.startSpan(
        'request',
        { kind: SpanKind.SERVER, links: named && !goesOn ? [{ context: named }] : [] },
        goesOn ? trace.setSpanContext(ROOT_CONTEXT, { ...named, isRemote: true }) : ROOT_CONTEXT,
      );
      return span.isRecording() ? requestSpan(span, !goesOn) : undefined;
    },
    span: async (name, origins, counts, work) => {
      const parent = parentOf(origins);
      const from = parent ? trace.setSpanContext(ROOT_CONTEXT, parent) : ROOT_CONTEXT;
      const span = tracer.startSpan(name, { links: linksOf(origins), attributes: counts }, from);
      try {
        return await work([originOf(span)]);
      } catch (error) {
        fail(span, kindOf(error));
        throw error;
      } finally {
        span.end();
      }
    },
  };
}

function requestSpan(span: Span, isOurs: boolean): RequestSpan {
  let isTrusted = isOurs;
  return {
    origins: () => (isTrusted ? [originOf(span)] : noOrigins),
    trust: () => {
      isTrusted = true;
    },
    end: ({ route, method, status }) => {
      // a span that does not end is never sent, so unauthenticated callers get nothing recorded
      if (!isTrusted) return;
      span.updateName(route === 'none' ? method : `${method} ${route}`);
      span.setAttributes({
        'http.request.method': method,
        'http.response.status_code': status,
        ...(route !== 'none' && { 'http.route': route }),
      });
      if (status >= 500) fail(span, String(status));
      span.end();
    },
  };
}
