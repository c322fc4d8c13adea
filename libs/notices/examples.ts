/** Notices. */

import { decidedAt, noticeHash } from '#libs/base/terms/example-names';
import type { NoticePut, NoticesPage } from './contract.ts';

export const notice = { version: '2026-11', language: 'de', title: 'Ihre Wahl', body: 'Wir verwenden Cookies …' };

export const noticePut: NoticePut = { notice: noticeHash };

export const noticesPage: NoticesPage = {
  notices: [
    {
      notice: noticeHash,
      language: 'de',
      version: '2026-11',
      variant: null,
      model: null,
      firstSeenAt: decidedAt,
      records: 1234,
    },
  ],
  nextCursor: null,
};
