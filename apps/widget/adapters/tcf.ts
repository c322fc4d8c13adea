/** Records the decisions that visitors make in a banner of IAB's Transparency and Consent Framework, version 2. */
import type { RecordClient } from '../record-client.ts';
import { openStorage } from '../storage.ts';
import { decisionOf, reportOf } from './decision.ts';

/** The part of `TCData` that is used. */
interface TcData {
  eventStatus: 'tcloaded' | 'cmpuishown' | 'useractioncomplete';
  listenerId?: number;
  tcString?: string;
  gdprApplies?: boolean;
  purpose: { consents: Record<string, boolean | undefined> };
}

type TcfApi = (
  command: string,
  version: number,
  callback: (data: TcData, success: boolean) => void,
  parameter?: number,
) => void;

declare global {
  interface Window {
    __tcfapi?: TcfApi;
  }
}

/** TCF 2 has eleven purposes; a banner may ask for fewer. */
const purposes = Array.from({ length: 11 }, (_, index) => String(index + 1));

/**
 * Call it once `__tcfapi` exists; the framework's stub is enough. A choice that was stored before is recorded if its string
 * differs from the last one that this browser recorded. Returns a function that stops the recording.
 */
export function recordTcf(client: RecordClient, tcfApi: TcfApi | undefined = window.__tcfapi): () => void {
  const storage = openStorage('assent.tcf.');
  let listener: number | undefined;
  const record = ({ eventStatus, tcString, gdprApplies, purpose }: TcData) => {
    if (!tcString || gdprApplies === false || eventStatus === 'cmpuishown') return;
    const [last, ...allowedBefore] = (storage.get('last') ?? '').split(' ');
    if (eventStatus === 'tcloaded' && last === tcString) return;
    const preferences = Object.fromEntries(purposes.map((id) => [`purpose_${id}`, purpose.consents[id] === true]));
    const allowed = purposes.filter((id) => purpose.consents[id]);
    storage.set('last', [tcString, ...allowed].join(' '));
    client.record({
      ...reportOf(decisionOf(Object.values(preferences), allowedBefore.length > 0), preferences),
      tcString,
    });
  };
  tcfApi?.('addEventListener', 2, (data, success) => {
    if (!success) return;
    listener = data.listenerId;
    record(data);
  });
  return () => {
    if (listener !== undefined) tcfApi?.('removeEventListener', 2, () => {}, listener);
  };
}
