import { makeIdAt } from '#libs/base/terms/uuid';

/** An id of now. */
export const makeId = (): string => makeIdAt(Date.now());
