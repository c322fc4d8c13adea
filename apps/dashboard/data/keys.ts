/** Keys of a domain. */
import type { Key } from '#libs/contract/manage';
import { now } from './service-clock.ts';

const anHour = 3_600_000;

/** Websites that use it lose decisions when it is revoked. */
export const isUsedLately = ({ lastUsedAt }: Key): boolean =>
  lastUsedAt !== null && now() - Date.parse(lastUsedAt) < anHour;
