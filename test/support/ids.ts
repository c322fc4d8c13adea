import { makeIdAt } from '#libs/base/terms/calendar';

/** An id of now. */
export const makeId = (): string => makeIdAt(Date.now());
