/** Erases a visitor and follows the erasure until it is done. */
import type { Erasure } from '#libs/privacy/contract';
import type { FullRecord } from '#libs/record/contract';
import type { Api } from '../data/api.ts';

/** Milliseconds between two looks at an erasure that goes on. */
const pause = 1_000;
/** Records that are read again afterwards: enough to see what is left of each. */
const readAgain = 20;

export interface ErasedVisitor {
  /** null: all domains */
  domainId: string | null;
  visitorId: string;
  records: FullRecord[];
}

export interface Erased {
  erasure: Erasure;
  /** the visitor's newest records as they are now; null where the token or the plan does not allow to read them */
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
