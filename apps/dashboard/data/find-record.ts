/** Finds a record by its id. Visitors see the id in the website's privacy settings. */
import { uuidv7Pattern } from '#libs/base/terms/calendar';
import { AssentError } from '#libs/client/assent-error';
import type { FullRecord } from '#libs/record/contract';
import type { Api } from './api.ts';

/** Null if the domain has no such record. A malformed id causes no request. */
export const findRecord = async (
  api: Api,
  domainId: string,
  id: string,
  signal?: AbortSignal,
): Promise<FullRecord | null> =>
  uuidv7Pattern.test(id)
    ? api.record(domainId, id.toLowerCase(), signal).catch((error: unknown) => {
        if (error instanceof AssentError && error.code === 'record_not_found') return null;
        throw error;
      })
    : null;
