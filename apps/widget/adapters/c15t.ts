/** Records the decisions that visitors make with c15t. */
import type { RecordClient } from '../record-client.ts';
import { decisionOf, reportOf } from './decision.ts';

interface State {
  consents: Record<string, boolean>;
  /** the categories that the site asks for */
  consentCategories: string[];
  /** of the last explicit save; null before the visitor has decided */
  consentInfo: { time: number; subjectId?: string } | null;
}

/** The part of c15t's `consentStore` that is used. */
interface ConsentStore {
  subscribe(listener: (state: State, previous: State) => void): () => void;
}

/**
 * Returns a function that stops the recording. It watches the store, since c15t's `onConsentChanged` does not fire for a
 * visitor who refuses everything at first: that changes none of the preferences.
 */
export const recordC15t = (client: RecordClient, store: ConsentStore): (() => void) =>
  store.subscribe((state, previous) => {
    const { consentInfo, consentCategories, consents } = state;
    if (!consentInfo || consentInfo.time === previous.consentInfo?.time) return;
    const optional = consentCategories.filter((name) => name !== 'necessary');
    const hadAny = previous.consentInfo !== null && optional.some((name) => previous.consents[name]);
    client.record({
      ...reportOf(
        decisionOf(
          optional.map((name) => consents[name] === true),
          hadAny,
        ),
        Object.fromEntries(consentCategories.map((name) => [name, consents[name] === true])),
      ),
      visitorId: consentInfo.subjectId,
    });
  });
