/**
 * Corrects the time of a record that the service rejected as out of range. If the device's clock is wrong, the time is
 * shifted by the difference to the service's clock. If the clock is right, the record is too old.
 */

import { smaller } from '#libs/widget/plain';

/** Milliseconds by which a correct clock may differ. */
const tolerance = 5 * 60_000;
/** Milliseconds that a record may take to arrive. */
export const accepted = 30 * 24 * 3_600_000;

/** All in Unix milliseconds: the decision by the device's clock, and both clocks now. Undefined where it is too old. */
export function redate(decidedAt: number, deviceTime: number, serverTime: number): number | undefined {
  const error = serverTime - deviceTime;
  const corrected = error > tolerance || error < -tolerance ? decidedAt + error : decidedAt;
  // a decision in the future means that the clock was ahead and has been set since
  const time = smaller(corrected, serverTime);
  return time >= serverTime - accepted ? time : undefined;
}
