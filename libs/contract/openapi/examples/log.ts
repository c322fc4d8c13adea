/** The sealed log, the feed, exports and imports, notices. */
import type { Consistency, Feed, Imported, NoticePut, NoticesPage, ProofBundle } from '../../responses.ts';
import { checkpoint, decidedAt, noticeHash, recordId, siblingHash, verifierKey } from './names.ts';
import { fullRecord } from './read.ts';

const salt = '8f14e45fceea167a5a36dedd4bea2543';

export const proofText = `c2sp.org/tlog-proof@v1\nindex 6\n${siblingHash}\n\n${checkpoint}`;

export const proofBundle: ProofBundle = {
  record: fullRecord,
  entry: `{"id":"${recordId}","decision":"custom","decidedAt":"${decidedAt}","circumstances":"…","private":"…"}`,
  opening: {
    circumstances: { salt, text: '{"language":"de","source":"banner"}' },
    private: { salt, text: '{"ip":"203.0.113.0","visitorId":"v-6f1c2a90"}' },
  },
  log: 1,
  position: 6,
  proof: [siblingHash],
  checkpoint,
  verifierKeys: [verifierKey],
  notice: null,
  timestamp: null,
};

/** Binary answers are shown as text. */
export const bytes = '…';

export const consistency: Consistency = { log: 1, from: 3, to: 7, proof: [siblingHash] };

export const feed: Feed = {
  log: 1,
  entries: [
    { position: 4, type: 'notice', notice: noticeHash },
    {
      position: 5,
      type: 'erasure',
      recordId: '01a2025a-1c2b-7a40-9f33-6d1e2b7c8a90',
      erases: 2,
      erased: { log: 1, position: 2 },
    },
    { position: 6, type: 'record', record: fullRecord },
  ],
  next: 7,
  size: 7,
};

export const exportedText = `${JSON.stringify(fullRecord)}\n{"end":true,"count":1}\n`;
const shown = ['id', 'domainId', 'decision', 'decidedAt'] as const;
export const exportedTable = `${shown.join(',')}\n${shown.map((name) => fullRecord[name]).join(',')}\n`;

export const importedText = '{"decision":"accept_all","decidedAt":"2024-02-29T12:00:00Z","visitorId":"v-6f1c2a90"}\n';
export const importedTable = 'decision,decidedAt,visitorId\naccept_all,2024-02-29T12:00:00Z,v-6f1c2a90\n';

export const imported: Imported = {
  importId: 'imp_7d2f4a6c8e0b1395f7a9',
  read: 3,
  queued: 1,
  known: 1,
  rejected: 1,
  errors: [{ row: 3, code: 'invalid_request', detail: '/decision is required' }],
};

export const notice = { version: '2026-11', language: 'de', title: 'Ihre Wahl', body: 'Wir verwenden Cookies …' };

export const noticePut: NoticePut = { notice: noticeHash };

export const noticesPage: NoticesPage = {
  notices: [{ notice: noticeHash, language: 'de', version: '2026-11', firstSeenAt: decidedAt, records: 1234 }],
  nextCursor: null,
};
