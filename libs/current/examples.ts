import { decidedAt, domainId, laterAt, recordId, visitorId } from '#libs/base/terms/example-names';
import type { Current, CurrentOfMany, CurrentOfOne } from './contract.ts';

const current: Current = {
  domainId,
  visitorId,
  recordId,
  decision: 'custom',
  preferences: { necessary: true, analytics: true, marketing: false },
  others: false,
  decidedAt,
  source: 'banner',
  policyVersion: '2026-11',
  model: 'opt_in',
  validUntil: '2027-11-22T08:24:00.634Z',
  valid: true,
  reason: null,
};

export const currentBody = { visitorIds: [visitorId] };
export const currentOfOne: CurrentOfOne = { ...current, asOf: laterAt };
export const currentOfMany: CurrentOfMany = { asOf: laterAt, current: [current] };
