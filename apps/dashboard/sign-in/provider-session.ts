/** What a sign-in with a provider stores beside the access token, for the tab's session only. */
import { withStorage } from '../data/storage.ts';

/** A sign-in that has gone to the provider and has not come back. */
interface Pending {
  state: string;
  nonce: string;
  verifier: string;
  /** the address to return to */
  returnTo: string;
}

export interface ProviderTokens {
  refreshToken: string | null;
  /** identifies the session at sign-out */
  idToken: string | null;
}

const pendingKey = 'assent-sign-in';
const tokensKey = 'assent-provider';

export const storePending = (pending: Pending): void => write(pendingKey, pending);

/** Works once: a second redirect with the same state is a replay. */
export function takePending(): Pending | null {
  const pending = read<Pending>(pendingKey);
  withStorage((storage) => storage.removeItem(pendingKey));
  return pending;
}

export const storeProviderTokens = (tokens: ProviderTokens): void => write(tokensKey, tokens);
export const providerTokens = (): ProviderTokens | null => read<ProviderTokens>(tokensKey);
export const forgetProviderTokens = (): void => void withStorage((storage) => storage.removeItem(tokensKey));

const write = (key: string, value: object): void =>
  void withStorage((storage) => storage.setItem(key, JSON.stringify(value)));

function read<Value>(key: string): Value | null {
  const text = withStorage((storage) => storage.getItem(key)) ?? null;
  return text === null ? null : (JSON.parse(text) as Value);
}
