/** Examples of requests and responses. */

import { decidedAt, domainId, recordId, visitorId } from '#libs/base/terms/example-names';
import type { FullRecord, Receipt, RecordBody } from './contract.ts';

export const recordBody: RecordBody = {
  id: recordId,
  decision: 'custom',
  visitorId,
  preferences: { statistics: true, marketing: false },
  bannerVersion: '2026-11',
  language: 'de',
  pageUrl: 'https://www.example.com/cups',
};

export const receipt: Receipt = { id: recordId, status: 'queued', decidedAt, receivedAt: decidedAt };

export const fullRecord: FullRecord = {
  id: recordId,
  domainId,
  decision: 'custom',
  decidedAt,
  receivedAt: decidedAt,
  visitorId,
  preferences: { statistics: true, marketing: false },
  source: 'banner',
  bannerVersion: '2026-11',
  policyVersion: null,
  language: 'de',
  pageUrl: 'https://www.example.com/cups',
  country: 'DE',
  ip: '203.0.113.0',
  userAgent: 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
  tcString: null,
  gppString: null,
  gpc: false,
  metadata: null,
  notice: null,
  variant: null,
  region: null,
  model: null,
  bot: false,
  erasedAt: null,
  log: 1,
  position: 6,
};
