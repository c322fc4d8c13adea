/** What pages send, and what they are answered. */
import type { DisplayBody } from '../../display.ts';
import type { RecordBody } from '../../record.ts';
import type { Receipt } from '../../responses.ts';
import { decidedAt, recordId, visitorId } from './names.ts';

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

export const displayBody: DisplayBody = { bannerVersion: '2026-11', variant: 'b', language: 'de' };
