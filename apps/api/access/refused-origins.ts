/**
 * Notes which origins were refused. Keys are public, so a flood of refusals must stay cheap: an origin of a domain is
 * written at most once a minute, all together at most ten times a second, and no request waits for it.
 */
import { LRUCache } from 'lru-cache';
import { isOrigin } from '#libs/contract/origin';
import type { Database } from '#libs/store/sql';
import { noteRefusedOrigin } from '#libs/store/tenants/refused-origins';
import type { Log } from '#libs/telemetry/log';

/** milliseconds */
const second = 1_000;
const minute = 60 * second;
const perSecond = 10;
/** characters */
const longest = 255;

export interface RefusedOrigins {
  note(domainId: string, origin: string): void;
}

export function createRefusedOrigins({ db, log }: { db: Database; log: Pick<Log, 'debug'> }): RefusedOrigins {
  const noted = new LRUCache<string, true>({ max: 10_000, ttl: minute });
  let since = 0;
  let writes = 0;
  const isBusy = () => {
    const now = performance.now();
    if (now - since >= second) {
      since = now;
      writes = 0;
    }
    return writes >= perSecond;
  };
  return {
    note: (domainId, origin) => {
      if (origin.length > longest) return;
      const name = `${domainId} ${origin}`;
      if (noted.has(name) || isBusy() || !couldBeListed(origin)) return;
      noted.set(name, true);
      writes += 1;
      db.run((sql) => noteRefusedOrigin(sql, domainId, origin)).catch((error: unknown) => {
        log.debug({ err: error, domainId }, 'could not note a refused origin');
      });
    },
  };
}

/** No browser sends a `*`; what a program made up must not become a wildcard on the list with one click. */
const couldBeListed = (origin: string): boolean => isOrigin(origin) && !origin.includes('*');
