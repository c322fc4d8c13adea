import { makeIdAt } from '#libs/contract/uuid';

/** An id of now. */
export const makeId = (): string => makeIdAt(Date.now());
