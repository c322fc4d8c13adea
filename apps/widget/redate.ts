/**
 * The time of a record that the service finds outside its window. A wrong clock is corrected by the service's; what a
 * right clock says is true, and a record that is too old stays so.
 */

/** Milliseconds that a clock may differ and still count as right. */
const tolerance = 5 * 60_000;
const accepted = 30 * 24 * 3_600_000;

/** All in Unix milliseconds: when it was decided by the device's clock, and both clocks now. Undefined: too old. */
export function redate(decidedAt: number, deviceTime: number, serverTime: number): number | undefined {
  const error = serverTime - deviceTime;
  const corrected = Math.abs(error) > tolerance ? decidedAt + error : decidedAt;
  // nothing is decided in the future: the clock was ahead then, and has been set since
  const time = Math.min(corrected, serverTime);
  return time >= serverTime - accepted ? time : undefined;
}
