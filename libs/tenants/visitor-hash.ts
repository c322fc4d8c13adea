/**
 * A visitor as tombstones and acts name them. Whoever lacks the key cannot tell whether a guess at an id is right, and
 * visitors of two organizations with the same id have different hashes.
 */
import { createHmac } from 'node:crypto';

export type VisitorHash = (organizationId: string, visitorId: string) => Buffer;

/** `key`: PRIVACY_KEY, 32 bytes. */
export const createVisitorHash =
  (key: Uint8Array): VisitorHash =>
  (organizationId, visitorId) =>
    createHmac('sha256', key).update(`${organizationId}\0${visitorId}`).digest();
