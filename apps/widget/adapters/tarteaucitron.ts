/** Records the decisions that visitors make in tarteaucitron. */
import type { RecordClient } from '../record-client.ts';
import { decisionOf, reportOf } from './decision.ts';

/** The part of `window.tarteaucitron` that is used. */
interface Tarteaucitron {
  /** keys of the page's services */
  job: string[];
  /** true or false once the visitor, or a setting, has decided about the service */
  state: Record<string, boolean | undefined>;
  /** services that have run on this page */
  launch: Record<string, boolean | undefined>;
  getLanguage?(): string;
}

/** Call it before `tarteaucitron.init`. Returns a function that stops the recording. */
export function recordTarteaucitron(client: RecordClient, tarteaucitron: Tarteaucitron): () => void {
  const end = new AbortController();
  const known = new Set<string>();
  let isGathering = false;
  let hasRefused = false;

  const record = () => {
    isGathering = false;
    const { job, state, launch } = tarteaucitron;
    const states = job.map((key) => state[key]);
    const preferences = Object.fromEntries(job.map((key) => [key, state[key] === true]));
    const hadAny = !hasRefused && job.some((key) => launch[key]);
    const decision = decisionOf(Object.values(preferences), hadAny);
    hasRefused = decision !== 'custom' && decision !== 'accept_all';
    // the visitor has not decided about all services yet, so this is no refusal of everything
    const isPartial = decision === 'reject_all' && states.includes(undefined);
    client.record({
      ...reportOf(isPartial ? 'custom' : decision, preferences),
      language: tarteaucitron.getLanguage?.(),
    });
  };

  /** One press of a button may decide about many services, one after the other. */
  const gather = () => {
    if (isGathering) return;
    isGathering = true;
    queueMicrotask(record);
  };

  // `tac.consent_updated` also fires for decisions by settings. It precedes the events with the service's name, which fire
  // for the visitor's decisions only.
  const listen = () => {
    for (const key of tarteaucitron.job.filter((each) => !known.has(each))) {
      known.add(key);
      for (const outcome of ['allowed', 'disallowed'])
        document.addEventListener(`${key}_${outcome}`, gather, { signal: end.signal });
    }
  };
  document.addEventListener('tac.consent_updated', listen, { signal: end.signal });
  return () => end.abort();
}
