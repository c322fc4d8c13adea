/** How far logs are sealed, and the position of a record. If this cannot be read, it is not shown. */

import { useRef, useState } from 'preact/hooks';
import type { FullRecord } from '#libs/record/contract';
import type { Api } from './api.ts';
import type { Sealed } from './proof-api.ts';
import { useLive } from './query.ts';
import { now } from './service-clock.ts';

/** milliseconds between two reads */
const every = { checkpoint: 10_000, record: 3_000 };

/** milliseconds within which a record is normally sealed */
const soon = 5 * 60_000;

/** Older records without a position cause no requests: their log is not sealed, and browsers log every 404. */
const mayBeSealed = (record: FullRecord): boolean =>
  positionOf(record) !== undefined || now() - Date.parse(record.receivedAt) < soon;

/** Null if nothing of the domain is sealed. */
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

/** `waiting`: the domain's log is not sealed up to this record yet. */
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
