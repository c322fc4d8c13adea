/** How far logs are sealed, and where in them a record is. What cannot be read is not shown: nothing depends on it. */

import { useEffect, useState } from 'preact/hooks';
import type { FullRecord } from '#libs/record/contract';
import type { Api } from './api.ts';
import type { Sealed } from './proof-api.ts';
import { now } from './service-clock.ts';

/** milliseconds between two looks */
const every = { checkpoint: 10_000, record: 3_000 };

/** Milliseconds within which a record is sealed, where records are. */
const soon = 5 * 60_000;

/** Where nothing is sealed, nothing is asked: browsers write each 404 to their console. */
const mayBeSealed = (record: FullRecord): boolean =>
  positionOf(record) !== undefined || now() - Date.parse(record.receivedAt) < soon;

/** Looks again and again while the page is visible; null where nothing of the domain is sealed. */
export function useSealed(api: Api, domainId: string, records: FullRecord[]): Sealed | null {
  const [found, setFound] = useState<{ domainId: string; sealed: Sealed | null } | null>(null);
  const asks = records.some(mayBeSealed);
  useEffect(() => {
    if (!asks) return undefined;
    return repeatVisibly(every.checkpoint, async (signal) => {
      const sealed = await api.sealed(domainId, signal);
      setFound({ domainId, sealed });
      return sealed !== null;
    });
  }, [api, domainId, asks]);
  return found?.domainId === domainId ? found.sealed : null;
}

type RecordPosition = 'unknown' | 'waiting' | { log: number; position: number };

/** `waiting`: the domain's log is sealed, but not up to this record yet. */
export function usePosition(api: Api, record: FullRecord): RecordPosition {
  const [place, setPlace] = useState<RecordPosition>(positionOf(record) ?? 'unknown');
  useEffect(() => {
    if (positionOf(record) || !mayBeSealed(record)) return undefined;
    let sealed: Promise<Sealed | null> | undefined;
    return repeatVisibly(every.record, async (signal) => {
      sealed ??= api.sealed(record.domainId, signal);
      const found = positionOf(await api.record(record.domainId, record.id, signal));
      setPlace(found ?? ((await sealed) ? 'waiting' : 'unknown'));
      return !found;
    });
  }, [api, record]);
  return place;
}

const positionOf = ({ log, position }: FullRecord) =>
  log === null || position === null ? undefined : { log, position };

/** Once at once; then again as long as `look` says so. Returns a function that stops it. */
function repeatVisibly(wait: number, look: (signal: AbortSignal) => Promise<boolean>): () => void {
  const stop = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const run = async () => {
    const isHidden = document.visibilityState !== 'visible';
    const goesOn = isHidden || (await look(stop.signal).catch(() => true));
    if (goesOn && !stop.signal.aborted) timer = setTimeout(run, wait);
  };
  void run();
  return () => {
    stop.abort();
    clearTimeout(timer);
  };
}
