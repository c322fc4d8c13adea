/** How far logs are sealed, and where in them a record is. What cannot be read is not shown: nothing depends on it. */

import { useRef, useState } from 'preact/hooks';
import type { FullRecord } from '#libs/record/contract';
import type { Api } from './api.ts';
import type { Sealed } from './proof-api.ts';
import { useLive } from './query.ts';
import { now } from './service-clock.ts';

/** milliseconds between two looks */
const every = { checkpoint: 10_000, record: 3_000 };

/** Milliseconds within which a record is sealed, where records are. */
const soon = 5 * 60_000;

/** Where nothing is sealed, nothing is asked: browsers write each 404 to their console. */
const mayBeSealed = (record: FullRecord): boolean =>
  positionOf(record) !== undefined || now() - Date.parse(record.receivedAt) < soon;

/** Null where nothing of the domain is sealed. */
export function useSealed(api: Api, domainId: string, records: FullRecord[]): Sealed | null {
  const [found, setFound] = useState<{ domainId: string; sealed: Sealed | null } | null>(null);
  const sealed = found?.domainId === domainId ? found.sealed : undefined;
  useLive(sealed !== null && records.some(mayBeSealed) ? domainId : null, {
    ask: (signal) => api.sealed(domainId, signal),
    onAnswer: (newest) => setFound({ domainId, sealed: newest }),
    interval: every.checkpoint,
    isEager: true,
  });
  return sealed ?? null;
}

type RecordPosition = 'unknown' | 'waiting' | { log: number; position: number };

/** `waiting`: the domain's log is sealed, but not up to this record yet. */
export function usePosition(api: Api, record: FullRecord): RecordPosition {
  const [place, setPlace] = useState<RecordPosition>(positionOf(record) ?? 'unknown');
  const sealed = useRef<Promise<Sealed | null> | undefined>(undefined);
  useLive(typeof place === 'string' && mayBeSealed(record) ? record.id : null, {
    ask: async (signal) => {
      sealed.current ??= api.sealed(record.domainId);
      const found = positionOf(await api.record(record.domainId, record.id, signal));
      return found ?? ((await sealed.current) ? 'waiting' : 'unknown');
    },
    onAnswer: setPlace,
    interval: every.record,
    isEager: true,
  });
  return place;
}

const positionOf = ({ log, position }: FullRecord) =>
  log === null || position === null ? undefined : { log, position };
