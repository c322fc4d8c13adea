/** All records that the filters show, as a file. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Api } from '../../data/api.ts';
import { ApiError } from '../../data/api-error.ts';
import { hasFilters, type LogQuery } from '../../data/log-query.ts';
import { downloadFile } from '../../download.ts';
import { count } from '../../format.ts';

interface Props {
  api: Api;
  domainId: string;
  query: LogQuery;
  total: number;
}

type Outcome = 'none' | 'busy' | { done: string } | { failure: string };

export function ExportRecords({ api, domainId, query, total }: Props) {
  const [outcome, setOutcome] = useState<Outcome>('none');
  const running = useRef<AbortController>(undefined);
  useEffect(() => () => running.current?.abort(), []);
  const { page: _, limit: __, ...filters } = query;
  const start = async (format: 'csv' | 'ndjson') => {
    const controller = new AbortController();
    const { signal } = controller;
    running.current = controller;
    setOutcome('busy');
    try {
      const { name, content } = await api.export(domainId, { ...filters, format }, signal);
      downloadFile(name, content);
      setOutcome({ done: name });
    } catch (error) {
      setOutcome(signal.aborted ? 'none' : { failure: failureOf(error) });
    }
  };
  const isBusy = outcome === 'busy';
  return (
    <section class="log-export" aria-label="Export">
      <p>
        Export {hasFilters(query) ? `the ${count(total)} records that match` : `all ${count(total)} records`}, oldest
        first
      </p>
      <button type="button" class="button" disabled={isBusy} onClick={() => start('csv')}>
        CSV
      </button>
      <button type="button" class="button" disabled={isBusy} onClick={() => start('ndjson')}>
        NDJSON
      </button>
      {isBusy && (
        <button type="button" class="button quiet" onClick={() => running.current?.abort()}>
          Cancel
        </button>
      )}
      <p role="status" class={typeof outcome === 'object' && 'failure' in outcome ? 'log-export-bad' : 'muted'}>
        {textOf(outcome)}
      </p>
    </section>
  );
}

function textOf(outcome: Outcome): string {
  if (outcome === 'none') return '';
  if (outcome === 'busy') return 'Exporting…';
  return 'done' in outcome ? `Saved as ${outcome.done}` : outcome.failure;
}

function failureOf(error: unknown): string {
  if (!(error instanceof ApiError)) return 'The file could not be saved.';
  if (error.code === 'rate_limited')
    return 'Another export of your organization is running. Try again when it is done.';
  return `The export failed: ${error.message}`;
}
