/** Statistics, the log, the organization, sign-in. */
import { addDays } from '../../calendar.ts';
import type { FullRecord, Organization, RecordsPage } from '../../responses.ts';
import type { SignIn } from '../../sign-in.ts';
import type { DomainStats, OrganizationStats, OrgStats } from '../../statistics.ts';
import { type Breakdown, emptyBreakdown, withTotal } from '../../terms.ts';
import { decidedAt, domainId, organizationId, recordId, visitorId } from './names.ts';

const breakdown: Breakdown = { accept_all: 1, reject_all: 1, custom: 1, withdraw: 0 };
const ofFirstDay: Breakdown = { ...emptyBreakdown(), accept_all: 1, reject_all: 1 };
const ofSecondDay: Breakdown = { ...emptyBreakdown(), custom: 1 };

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
  bot: false,
  erasedAt: null,
  log: 1,
  position: 6,
};

const stats = {
  from: '2026-11-21',
  to: '2026-11-22',
  ...withTotal(breakdown),
};

const statistics = {
  from: stats.from,
  to: stats.to,
  total: stats.total,
  breakdown,
  series: [
    { date: stats.from, ...withTotal(ofFirstDay) },
    { date: stats.to, ...withTotal(ofSecondDay) },
  ],
};

export const domainStats: DomainStats = { domainId, ...statistics };
export const organizationStats: OrganizationStats = { organizationId, ...statistics };

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

export const organization: Organization = {
  organizationId,
  name: 'Example Ltd',
  plan: { name: 'pro', consentLog: true, monthlyRecordLimit: null },
  usage: { month: '2026-11', used: 3, bots: 0, limit: null },
  domains: [{ domainId, name: 'www.example.com' }],
  scopes: ['read'],
};

export const signIn: SignIn = {
  oidc: {
    issuer: 'https://login.example.com',
    clientId: 'assent-dashboard',
    scopes: ['openid'],
    audience: 'https://consent.example.com',
  },
};
