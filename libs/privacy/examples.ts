/** Access and erasure. */

import { decidedAt, domainId, erasureId, laterAt, verifierKey, visitorId } from '#libs/base/terms/example-names';
import { fullRecord } from '#libs/record/examples';
import type { Erasure, ErasureDetails, ErasuresPage, Visitor } from './contract.ts';

export const visitorBody = { visitorId };

export const visitor: Visitor = {
  visitorId,
  generatedAt: laterAt,
  current: { [domainId]: { decision: 'custom', preferences: fullRecord.preferences, decidedAt } },
  records: [fullRecord],
  notices: {},
  proofs: {},
  bundles: {},
  verifierKeys: { [domainId]: [verifierKey] },
};

const asked = { requestedAt: laterAt, actor: 'privacy@example.com' };

export const erased: Erasure = { erasureId, visitorId, state: 'done', records: 1, ...asked, erasedAt: laterAt };

export const erasing: Erasure = { erasureId, visitorId, state: 'running', records: 10_000, ...asked, erasedAt: null };

export const erasedBefore: Erasure = { ...erased, visitorId: null };

export const erasureDetails: ErasureDetails = {
  ...erasedBefore,
  domains: {
    [domainId]: { records: 1, positions: [4], entries: [{ log: 1, position: 7, erased: { log: 1, position: 4 } }] },
  },
};

export const erasuresPage: ErasuresPage = { erasures: [erasedBefore], nextCursor: null };
