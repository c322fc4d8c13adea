/** What a sign-in with a provider keeps beside the access token, for the tab's session only. */
import { withStorage } from '../data/storage.ts';

/** Between the way to the provider and back. */
interface Pending {
  state: string;
  nonce: string;
  verifier: string;
  /** the address to go on at */
  returnTo: string;
}

export interface ProviderTokens {
  refreshToken: string | null;
  /** says at sign-out whose session ends */
  idToken: string | null;
}

const pendingKey = 'assent-sign-in';
const tokensKey = 'assent-provider';

export const keepPending = (pending: Pending): void => write(pendingKey, pending);

/** Once: what comes back a second time is a replay. */
export function takePending(): Pending | null {
  const pending = read<Pending>(pendingKey);
  withStorage((storage) => storage.removeItem(pendingKey));
  return pending;
}

export const keepProviderTokens = (tokens: ProviderTokens): void => write(tokensKey, tokens);
export const providerTokens = (): ProviderTokens | null => read<ProviderTokens>(tokensKey);
export const forgetProviderTokens = (): void => void withStorage((storage) => storage.removeItem(tokensKey));

const write = (key: string, value: object): void =>
  void withStorage((storage) => storage.setItem(key, JSON.stringify(value)));

function read<Value>(key: string): Value | null {
  const text = withStorage((storage) => storage.getItem(key)) ?? null;
  return text === null ? null : (JSON.parse(text) as Value);
}
