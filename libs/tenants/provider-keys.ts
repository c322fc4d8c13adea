/**
 * The keys of an OpenID Connect provider, by the `kid` that a token names. They are fetched when they are first wanted,
 * again for an unknown one and each hour, and hold for a day while the provider is away.
 */
import { KeyObject } from 'node:crypto';
import { createRemoteJWKSet, customFetch, errors, type FetchImplementation } from 'jose';
import { unavailable } from '#libs/base/terms/problem';

/** Milliseconds between two fetches, so that made-up ids cost the provider nothing; after a failed one less. */
const fetchEvery = 60_000;
const tryAgainAfter = 5_000;
/** milliseconds */
const refreshEvery = 3_600_000;
const holdFor = 86_400_000;
const patience = 2_000;
/** No provider has as many keys as fit. */
const maxBytes = 256 * 1024;

interface ProviderKeys {
  /** Undefined for an unknown one. Throws a 503 while the provider is away and nothing is known of its keys. */
  find(kid: string | undefined): Promise<KeyObject | undefined>;
  /** Grows whenever one was added or removed. To be read before `find`, for what is verified with the key that it finds. */
  generation(): number;
  /** Whether what was verified in that generation would be verified now. */
  isCurrent(generation: number): boolean;
}

export function createProviderKeys({ jwksUrl, algorithm }: { jwksUrl: string; algorithm: string }): ProviderKeys {
  let mayFetchAt = 0;
  let refreshAt = 0;
  const fetchKeys: FetchImplementation = async (url, options) => {
    if (Date.now() < mayFetchAt) throw new Error('its keys were asked for a moment ago');
    mayFetchAt = Date.now() + tryAgainAfter;
    const text = await readText(await fetch(url, options));
    mayFetchAt = Date.now() + fetchEvery;
    return new Response(text);
  };
  const keys = createRemoteJWKSet(new URL(jwksUrl), {
    timeoutDuration: patience,
    // the pauses are those above
    cooldownDuration: 0,
    cacheMaxAge: holdFor,
    [customFetch]: fetchKeys,
  });
  let known = '';
  let generation = 0;
  const note = () => {
    const now = JSON.stringify(keys.jwks()?.keys);
    if (now !== known) generation += 1;
    known = now;
  };
  const refresh = () => {
    if (!keys.fresh || Date.now() < refreshAt) return;
    refreshAt = Date.now() + refreshEvery;
    // one that was removed is not accepted for longer; until it succeeds, those at hand hold
    keys.reload().then(note, () => {});
  };
  const fetched = async (kid: string | undefined) => {
    try {
      return await keys({ alg: algorithm, ...(kid !== undefined && { kid }) });
    } finally {
      note();
    }
  };
  return {
    generation: () => generation,
    isCurrent: (given) => {
      refresh();
      return keys.fresh && given === generation;
    },
    find: async (kid) => {
      refresh();
      try {
        return KeyObject.from(await fetched(kid));
      } catch (error) {
        if (keys.fresh || error instanceof errors.JWKSNoMatchingKey) return undefined;
        throw unavailable('the keys of the identity provider cannot be fetched; try again', {
          cause: error,
          elsewhere: true,
        });
      }
    },
  };
}

/** Throws for anything but a list of keys. */
async function readText(response: Response): Promise<string> {
  if (response.status !== 200) throw new Error(`the provider answered ${response.status}`);
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > maxBytes) throw new Error(`the provider sent more than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  const text = Buffer.concat(chunks).toString('utf8');
  if (!Array.isArray(JSON.parse(text)?.keys)) throw new Error('the provider sent no list of keys');
  return text;
}
