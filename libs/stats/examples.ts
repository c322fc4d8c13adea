/** Displays, statistics, the organization. */

import { domainId, organizationId } from '#libs/base/terms/example-names';
import { type Breakdown, emptyBreakdown, withTotal } from '#libs/base/terms/terms';
import type { DisplayBody, DomainStats, Organization, OrganizationStats } from './contract.ts';

export const displayBody: DisplayBody = { bannerVersion: '2026-11', variant: 'b', language: 'de' };

export const breakdown: Breakdown = { accept_all: 1, reject_all: 1, custom: 1, withdraw: 0 };
export const ofFirstDay: Breakdown = { ...emptyBreakdown(), accept_all: 1, reject_all: 1 };
export const ofSecondDay: Breakdown = { ...emptyBreakdown(), custom: 1 };

export const stats = {
  from: '2026-11-21',
  to: '2026-11-22',
  ...withTotal(breakdown),
};

const statistics = {
  from: stats.from,
  to: stats.to,
  total: stats.total,
  breakdown,
  choices: 3,
  optInRate: 2 / 3,
  series: [
    { date: stats.from, ...withTotal(ofFirstDay), choices: 2, optInRate: 1 / 2 },
    { date: stats.to, ...withTotal(ofSecondDay), choices: 1, optInRate: 1 },
  ],
};

export const domainStats: DomainStats = { domainId, ...statistics };
export const organizationStats: OrganizationStats = { organizationId, ...statistics };

export const organization: Organization = {
  organizationId,
  name: 'Example Ltd',
  plan: { name: 'pro', consentLog: true, monthlyRecordLimit: null },
  usage: { month: '2026-11', used: 3, bots: 0, limit: null },
  domains: [{ domainId, name: 'www.example.com' }],
  scopes: ['read'],
};
