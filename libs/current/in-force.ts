/** What a visitor's newest record still allows. It fails closed: in doubt, nothing is allowed. */
import { timeOf } from '#libs/base/terms/calendar';
import type { Current } from './contract.ts';
import type { Newest } from './newest.ts';

const necessary = 'necessary';

/** `now`: Unix milliseconds. */
export function consentInForce(domainId: string, visitorId: string, newest: Newest | undefined, now: number): Current {
  if (!newest) return { domainId, visitorId, ...nothing };
  const { id, decision, source, policyVersion, model, validMonths, requiredPolicy } = newest;
  const preferences = Object.entries(newest.preferences ?? {});
  const isRefusal = decision === 'reject_all' || decision === 'withdraw';
  const others = decision === 'accept_all' && preferences.length === 0;
  const allows = !isRefusal && (others || preferences.some(([name, allowed]) => allowed && name !== necessary));
  // objections do not expire: an expired one would look as if the visitor had never objected
  const isObjection = (model === 'opt_out' || model === 'none') && preferences.some(([, allowed]) => !allowed);
  const expires = allows && !isObjection;
  const decidedAt = timeOf(id);
  const validUntil = expires && validMonths !== null ? monthsLater(decidedAt, validMonths) : null;
  const isPolicyOther = expires && requiredPolicy !== null && policyVersion !== requiredPolicy;
  const isExpired = validUntil !== null && now >= validUntil;
  const valid = !isPolicyOther && !isExpired;
  return {
    domainId,
    visitorId,
    recordId: id,
    decision,
    preferences: Object.fromEntries(
      preferences.map(([name, allowed]) => [name, allowed && (name === necessary || (valid && !isRefusal))]),
    ),
    others: others && valid,
    decidedAt: new Date(decidedAt).toISOString(),
    source,
    policyVersion,
    model,
    validUntil: validUntil === null ? null : new Date(validUntil).toISOString(),
    valid,
    reason: valid ? null : isPolicyOther ? 'policy_changed' : 'expired',
  };
}

const nothing = {
  recordId: null,
  decision: null,
  preferences: {},
  others: false,
  decidedAt: null,
  source: null,
  policyVersion: null,
  model: null,
  validUntil: null,
  valid: false,
  reason: 'none',
} as const;

/** The same day and time in UTC, or the last day of the month if it has no such day. */
function monthsLater(time: number, months: number): number {
  const later = new Date(time);
  const day = later.getUTCDate();
  later.setUTCDate(1);
  later.setUTCMonth(later.getUTCMonth() + months + 1, 0);
  later.setUTCDate(Math.min(day, later.getUTCDate()));
  return later.getTime();
}
