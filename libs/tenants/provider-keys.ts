/**
 * The keys of an OpenID Connect provider, by the `kid` that a token names. They are fetched when first needed, again
 * for an unknown `kid` and every hour, and stay valid for a day while the provider is down.
 */
import { createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto';
import { unavailable } from '#libs/base/terms/problem';

/** Milliseconds between two fetches, so that made-up ids cost the provider nothing; less after a failed one. */
const fetchEvery = 60_000;
const tryAgainAfter = 5_000;
/** milliseconds */
const refreshEvery = 3_600_000;
const freshFor = 86_400_000;
const patience = 2_000;
/** more than the keys of any provider need */
const maxBytes = 256 * 1024;

interface ProviderKeys {
  /** Undefined for an unknown one. Throws a 503 while the provider is down and no valid keys are at hand. */
  find(kid: string | undefined): Promise<KeyObject | undefined>;
  /** Grows whenever a key is added or removed. Read it before `find`, to note with which keys a token is verified. */
  generation(): number;
  /** Whether a token that was verified in that generation would be verified now. */
  isCurrent(generation: number): boolean;
}

export function createProviderKeys({ jwksUrl, algorithm }: { jwksUrl: string; algorithm: string }): ProviderKeys {
  let keys: ProviderKey[] = [];
  // on the monotonic clock: if the system clock stepped back, removed keys would stay valid for that long, and new ones
  // unknown
  let freshUntil = Number.NEGATIVE_INFINITY;
  let mayFetchAt = Number.NEGATIVE_INFINITY;
  let refreshAt = Number.NEGATIVE_INFINITY;
  let known = '';
  let generation = 0;
  const isFresh = () => performance.now() < freshUntil;
  const fetchKeys = async () => {
    if (performance.now() < mayFetchAt) throw new Error('its keys were asked for a moment ago');
    mayFetchAt = performance.now() + tryAgainAfter;
    const list = await readKeys(await fetch(jwksUrl, { signal: AbortSignal.timeout(patience), redirect: 'manual' }));
    mayFetchAt = performance.now() + fetchEvery;
    freshUntil = performance.now() + freshFor;
    const now = JSON.stringify(list);
    if (now === known) return;
    known = now;
    generation += 1;
    keys = list.flatMap((jwk) => verifyingKey(jwk, algorithm) ?? []);
  };
  let fetching: Promise<void> | undefined;
  /** Concurrent callers share one fetch. */
  const load = () => {
    fetching ??= fetchKeys().finally(() => {
      fetching = undefined;
    });
    return fetching;
  };
  const refresh = () => {
    if (!isFresh() || performance.now() < refreshAt) return;
    refreshAt = performance.now() + refreshEvery;
    // in the background, to drop removed keys; until it succeeds, the present ones stay valid
    load().catch(() => {});
  };
  const named = (kid: string | undefined) => keys.filter((each) => kid === undefined || each.kid === kid);
  return {
    generation: () => generation,
    isCurrent: (given) => {
      refresh();
      return isFresh() && given === generation;
    },
    find: async (kid) => {
      refresh();
      try {
        if (!isFresh() || named(kid).length === 0) await load();
      } catch (error) {
        if (isFresh()) return undefined;
        throw unavailable('the keys of the identity provider cannot be fetched; try again', {
          cause: error,
          elsewhere: true,
        });
      }
      const [key, other] = named(kid);
      return other ? undefined : key?.key;
    },
  };
}

interface ProviderKey {
  kid: unknown;
  key: KeyObject;
}

const kinds: Record<string, { kty: string; crv?: string }> = {
  RS256: { kty: 'RSA' },
  ES256: { kty: 'EC', crv: 'P-256' },
};

/** Undefined for a key that does not verify signatures of this algorithm (RFC 7517, section 4). */
function verifyingKey(jwk: JsonWebKey, algorithm: string): ProviderKey | undefined {
  const kind = kinds[algorithm];
  const { kid, alg = algorithm, use = 'sig', key_ops: operations = ['verify'] } = jwk;
  const fits = kind && jwk.kty === kind.kty && (kind.crv === undefined || jwk.crv === kind.crv);
  if (!fits || alg !== algorithm || use !== 'sig' || !isArray(operations) || !operations.includes('verify')) return;
  try {
    return { kid, key: createPublicKey({ key: jwk, format: 'jwk' }) };
  } catch {
    return undefined;
  }
}

const isArray = (value: unknown): value is unknown[] => Array.isArray(value);

/** Throws for anything but a list of keys. */
async function readKeys(response: Response): Promise<JsonWebKey[]> {
  if (response.status !== 200) throw new Error(`the provider responded with ${response.status}`);
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > maxBytes) throw new Error(`the provider sent more than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  const list: unknown = JSON.parse(Buffer.concat(chunks).toString('utf8'))?.keys;
  if (!isArray(list)) throw new Error('the provider sent no list of keys');
  return list.filter((each): each is JsonWebKey => typeof each === 'object' && each !== null);
}
