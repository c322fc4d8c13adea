/** Asks the service where the visitor is. Nothing of the answer is kept, but for the browser's own cache. */

import type { Place } from '#libs/widget/places';
import { own } from '#libs/widget/plain';
import type { Settings } from '../settings.ts';

/** Milliseconds that the first view waits. */
const patience = 1_000;

const code = (text: unknown): string | null => (typeof text === 'string' ? text : null);

/** Unknown where nothing that is an answer comes in time. Never rejects. */
export async function findPlace({ api, domain }: Pick<Settings, 'api' | 'domain'>): Promise<Place> {
  const unknown = { country: null, region: null };
  return new Promise((resolve) => {
    setTimeout(() => resolve(unknown), patience);
    fetch(`${api}/v1/consent/${domain}/place`, { credentials: 'omit' })
      .then(async (response) => {
        const { country, region } = own<unknown>(await response.json());
        resolve(response.ok ? { country: code(country), region: code(region) } : unknown);
      })
      .catch(() => resolve(unknown));
  });
}
