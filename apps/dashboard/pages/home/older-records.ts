import { useRef, useState } from 'preact/hooks';
import type { Api } from '../../data/api.ts';
import { appendPage } from '../../data/stream.ts';
import type { OverviewState } from './overview-state.ts';

const pageLength = 100;

export interface OlderRecords {
  isLoading: boolean;
  hasFailed: boolean;
  load(): void;
}

/** Loads the next page of the stream, and appends it to whatever the stream is by then. */
export function useOlderRecords(
  api: Api,
  overview: OverviewState,
  put: (overview: OverviewState) => void,
): OlderRecords {
  const [state, setState] = useState({ isLoading: false, hasFailed: false });
  const latest = useRef(overview);
  latest.current = overview;
  const load = () => {
    const { cursor } = latest.current.stream;
    if (cursor === null || state.isLoading) return;
    setState({ isLoading: true, hasFailed: false });
    api.orgStats({ limit: pageLength, cursor }).then(
      (page) => {
        const { stats, stream } = latest.current;
        // unless the stream has started over meanwhile
        if (stream.cursor === cursor) put({ stats, stream: appendPage(stream, page) });
        setState({ isLoading: false, hasFailed: false });
      },
      () => setState({ isLoading: false, hasFailed: true }),
    );
  };
  return { ...state, load };
}
