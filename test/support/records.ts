/** Records as `persist` takes them. */

import { makeIdAt } from '#libs/base/terms/calendar';
import type { NewRecord } from '#libs/record/contract';

export const recordAt = (time: string | number, fields: Partial<NewRecord> & { domainId: string }): NewRecord => {
  const at = typeof time === 'string' ? Date.parse(time) : time;
  return {
    id: makeIdAt(at),
    decision: 'accept_all',
    receivedAt: new Date(at).toISOString(),
    source: 'banner',
    ...fields,
  };
};
