/** BullMQ's spans without what it writes into them about errors and results, which may quote what was sent. */
import { type Context, SpanStatusCode } from '@opentelemetry/api';
import type { Span } from 'bullmq';
import { BullMQOTelSpan } from 'bullmq-otel';

export class JobSpan extends BullMQOTelSpan {
  override addEvent(name: string): void {
    if (name === 'job failed') this.span.setStatus({ code: SpanStatusCode.ERROR });
  }
  override recordException(): void {
    this.span.setStatus({ code: SpanStatusCode.ERROR });
  }
}

export const unrecorded: Span<Context> = {
  setSpanOnContext: (given) => given,
  setAttribute: () => {},
  setAttributes: () => {},
  addEvent: () => {},
  recordException: () => {},
  end: () => {},
};
