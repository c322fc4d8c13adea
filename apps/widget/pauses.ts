/** Pauses in which nothing is sent to the service, shared by all pages of the site. */
import { map, min, now, words } from '#libs/widget/tamper-proof';
import type { Target } from './send.ts';
import { openStorage } from './storage.ts';

/** Milliseconds: the longest `Retry-After` that is respected. */
const longestRetryAfter = 3_600_000;
/** Milliseconds: the pause after a refusal, doubled with each further one up to the longest. */
const firstRefusal = 3_600_000;
const longestRefusal = 86_400_000;
const retryAfter = 'wait';

export function openPauses({ api, domain, key }: Target) {
  const storage = openStorage(`assent.${domain}.`);
  const refusals = openStorage(`assent.${domain}.refused.`);
  /** A page with another key, or another address of the service, does not wait. */
  const refused = `${api} ${key}`;
  const refusal = () => map(words(refusals.get(refused) ?? ''), (text) => +text);

  const pauses = {
    /** Milliseconds left of a `Retry-After`. */
    retryAfter: () => remaining(+(storage.get(retryAfter) ?? 0), longestRetryAfter),
    respect: (wait: number) => storage.set(retryAfter, `${now() + min(wait, longestRetryAfter)}`),
    /** Milliseconds that this page's key still has to wait. */
    refusal: () => remaining(refusal()[0], longestRefusal),
    noteRefusal: () => {
      // of simultaneous refusals, as in several tabs, only the first counts
      if (pauses.refusal()) return;
      const wait = min((refusal()[1] || firstRefusal / 2) * 2, longestRefusal);
      refusals.set(refused, `${now() + wait} ${wait}`);
    },
    forgetRefusals: () => map(refusals.names(), refusals.remove),
  };
  return pauses;
}

/** Milliseconds until `time`. More than `longest` means that the clock was changed, and counts as none. */
function remaining(time = 0, longest: number): number {
  const wait = time - now();
  return wait > 0 && wait <= longest ? wait : 0;
}
