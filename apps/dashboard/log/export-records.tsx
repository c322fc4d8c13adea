/** Downloads all records that match the filters. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { AssentError } from '#libs/client/assent-error';
import { useSignedIn } from '../data/signed-in.ts';
import { downloadFile } from '../download.ts';
import { count } from '../format.ts';
import { Button } from '../parts/button.tsx';
import { hasFilters, type LogQuery } from './log-query.ts';

interface Props {
  domainId: string;
  query: LogQuery;
  total: number;
}

type Outcome = 'none' | 'busy' | { done: string } | { failure: string };

export function ExportRecords({ domainId, query, total }: Props) {
  const { api } = useSignedIn();
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
  const isFiltered = hasFilters(query);
  const records = total === 1 ? 'the one record' : `${isFiltered ? 'the' : 'all'} ${count(total)} records`;
  return (
    <section class="cluster log-export" aria-label="Export">
      <p>
        Export {records}
        {isFiltered && (total === 1 ? ' that matches' : ' that match')}, oldest first
      </p>
      <Button text="CSV" disabled={isBusy} onClick={() => start('csv')} />
      <Button text="NDJSON" disabled={isBusy} onClick={() => start('ndjson')} />
      {isBusy && <Button text="Cancel" kind="quiet" onClick={() => running.current?.abort()} />}
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
  if (!(error instanceof AssentError)) return 'The file could not be saved.';
  if (error.code === 'rate_limited')
    return 'Another export of your organization is running. Try again when it is done.';
  return `The export failed: ${error.message}`;
}
