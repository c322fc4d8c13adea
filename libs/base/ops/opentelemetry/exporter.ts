/** Exports spans, and logs once that the collector does not accept them. Recording never depends on it. */
import { type ExportResult, ExportResultCode } from '@opentelemetry/core';
import type { SpanExporter } from '@opentelemetry/sdk-trace';
import type { Log } from '../process-log.ts';

export function sayOnce(exporter: SpanExporter, log: Pick<Log, 'info' | 'warn'>, onFailure: () => void): SpanExporter {
  let isFailing = false;
  const note = ({ code, error }: ExportResult) => {
    const fails = code !== ExportResultCode.SUCCESS;
    if (fails) onFailure();
    if (fails && !isFailing)
      log.warn({ event: 'spans_lost', err: error }, 'the collector takes no spans; they are lost');
    if (!fails && isFailing) log.info({ event: 'spans_sent' }, 'the collector takes spans again');
    isFailing = fails;
  };
  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        note(result);
        done(result);
      }),
    forceFlush: async () => exporter.forceFlush?.(),
    shutdown: () => exporter.shutdown(),
  };
}
