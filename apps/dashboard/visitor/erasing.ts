/** Erases a visitor and follows the erasure until it is done. */
import type { Erasure } from '#libs/privacy/contract';
import type { FullRecord } from '#libs/record/contract';
import type { Api } from '../data/api.ts';

/** polling interval of a running erasure, in milliseconds */
const pause = 1_000;
/** number of records that are read again to show what is left of them */
const readAgain = 20;

export interface ErasedVisitor {
  /** null: all domains */
  domainId: string | null;
  visitorId: string;
  records: FullRecord[];
}

export interface Erased {
  erasure: Erasure;
  /** the visitor's newest records after the erasure; null if the token or the plan does not allow reading them */
  left: FullRecord[] | null;
}

export async function erase(
  api: Api,
  { domainId, visitorId, records }: ErasedVisitor,
  onProgress: (erasure: Erasure) => void,
): Promise<Erased> {
  let erasure = await api.eraseVisitor(domainId, visitorId);
  while (erasure.state === 'running') {
    onProgress(erasure);
    await new Promise((resolve) => setTimeout(resolve, pause));
    erasure = await api.erasure(erasure.erasureId);
  }
  return { erasure, left: await readLeft(api, records.slice(0, readAgain)) };
}

const readLeft = (api: Api, records: FullRecord[]): Promise<FullRecord[] | null> =>
  Promise.all(records.map(({ domainId, id }) => api.record(domainId, id))).catch(() => null);
