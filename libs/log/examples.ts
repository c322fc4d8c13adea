/** The overview, pages, the feed, exports and imports. */
import { addDays } from '#libs/base/terms/calendar';
import { domainId, laterAt, noticeHash, organizationId } from '#libs/base/terms/example-names';
import { withTotal } from '#libs/base/terms/terms';
import { fullRecord } from '#libs/record/examples';
import { breakdown, ofFirstDay, ofSecondDay, stats } from '#libs/stats/examples';
import type { Feed, ImportsPage, OrgStats, RecordsPage } from './contract.ts';
import type { Imported } from './import/contract.ts';

const firstDay = '2026-10-24';
const days = Array.from({ length: 30 }, (_, index) => addDays(firstDay, index));
const ofDay = new Map([
  [stats.from, ofFirstDay],
  [stats.to, ofSecondDay],
]);

export const orgStats: OrgStats = {
  organizationId,
  period: { from: firstDay, to: stats.to },
  total: stats.total,
  breakdown,
  daily: days.map((date) => ({ date, ...withTotal(ofDay.get(date)) })),
  recordsPeriod: { from: '2026-11-16', to: stats.to },
  recordsTotal: 3,
  records: [fullRecord],
  nextCursor: 'eyJhIjoiMDFhMjAyNWEifQ.c2lnbmVk',
};

export const recordsPage: RecordsPage = {
  domainId,
  page: 1,
  limit: 50,
  total: 1,
  totalPages: 1,
  capped: false,
  nextCursor: null,
  records: [fullRecord],
};

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

export const importsPage: ImportsPage = {
  imports: [
    {
      importId: imported.importId,
      domainId,
      at: laterAt,
      actor: 'ann@example.com',
      read: 3,
      queued: 1,
      known: 1,
      rejected: 1,
      isComplete: true,
    },
  ],
  nextCursor: null,
};
