/** What must not happen twice where an answer was lost. */
import type { Ask, Call } from './calls.ts';

/** The keys of what was not answered with success. */
const unanswered = new Map<string, string>();

/** Whoever asks for the same again gets the answer that was lost. `about`: what else makes it the same. */
export const once =
  (ask: Ask, about?: string | null): Ask =>
  async (endpoint, given, how) => {
    const { params, body }: Call = given;
    const question = JSON.stringify([endpoint, params, body, about]);
    const key = unanswered.get(question) ?? randomText();
    unanswered.set(question, key);
    const called = await ask(endpoint, given, { ...how, headers: { ...how?.headers, 'idempotency-key': key } });
    unanswered.delete(question);
    return called;
  };

/** Also where the page is not a secure context, which `randomUUID` needs. */
const randomText = () =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
