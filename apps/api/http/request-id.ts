/** The id of a request that came without one. */
import { randomUUID } from 'node:crypto';

/** 16 hexadecimal digits: a whole UUID would be carried through job, log and answer for nothing. */
export const newRequestId = (): string => randomUUID().slice(19).replace('-', '');
