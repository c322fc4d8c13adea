/** A record by its id, which visitors know: the website's privacy settings show it to them. */
import { uuidv7Pattern } from '#libs/base/terms/calendar';
import { AssentError } from '#libs/client/assent-error';
import type { FullRecord } from '#libs/record/contract';
import type { Api } from './api.ts';

/** Null where the domain has no such record. Nothing is asked about an id that no record can have. */
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
