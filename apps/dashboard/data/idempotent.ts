/** Retries that must not repeat their effect: each carries an `Idempotency-Key`. */
import type { Ask, Call } from './calls.ts';

/** Keys of requests that have not succeeded yet. */
const pendingKeys = new Map<string, string>();

/** The same request sent again gets the response that was lost. `about`: further text that identifies the request. */
export const idempotent =
  (ask: Ask, about?: string | null): Ask =>
  async (endpoint, given, how) => {
    const { params, body }: Call = given;
    const question = JSON.stringify([endpoint, params, body, about]);
    const key = pendingKeys.get(question) ?? randomText();
    pendingKeys.set(question, key);
    const called = await ask(endpoint, given, { ...how, headers: { ...how?.headers, 'idempotency-key': key } });
    pendingKeys.delete(question);
    return called;
  };

/** `randomUUID` would need a secure context. */
const randomText = () =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
