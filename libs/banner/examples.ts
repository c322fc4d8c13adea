/** Banners, and checks of sites. */
import { laterAt } from '#libs/base/terms/example-names';
import type {
  BannerVersion,
  ChecksPage,
  ListedCheck,
  PublishBody,
  ShownCheck,
  ShownVersion,
  VersionsPage,
} from './contract.ts';

export const settings = {
  company: 'Example Shop Ltd',
  policyUrl: 'https://shop.example/privacy',
  policyVersion: '2026-11',
  categories: ['analytics', 'marketing'],
  colors: { button: '#0b57d0' },
};

export const publishBody: PublishBody = { note: 'new colour of the buttons' };

export const version: BannerVersion = {
  version: 3,
  publishedAt: laterAt,
  by: 'anna@shop.example',
  note: 'new colour of the buttons',
  restored: null,
  asksAgain: false,
};

export const shownVersion: ShownVersion = { ...version, settings };

export const versionsPage: VersionsPage = { versions: [version], nextCursor: null };

const ticket = 'kJ3vQ9xT0b8sYc2mN7lF4e1Jt6kVw9uR';

export const checkTicket = { ticket, expiresAt: laterAt };

const seen = {
  step: 'before' as const,
  pages: 1,
  allowed: ['necessary'],
  grants: [],
  moreHosts: 0,
  cookies: [{ name: '_ga', category: 'analytics' }],
  storage: ['basket'],
  moreNames: 0,
  ran: [],
  held: 2,
  google: [{ host: 'www.google-analytics.com', gcs: 'G100', gcd: '13l3l3l2l1l1', requests: 1 }],
  commands: [['default' as const, 'config' as const]],
  hasContainer: true,
  bannerMs: 210,
  failed: [],
  isIncomplete: false,
  hasWorker: false,
};
const host = 'connect.facebook.net';
const known = { owner: 'Facebook', kind: 'social' };
const checked = { origin: 'https://shop.example', model: null, gpc: false };

export const hostsBody = { ticket, hosts: [host] };
export const hostsAnswer = { hosts: [{ host, known }] };
export const checkBody = { ...checked, ticket, steps: [{ ...seen, hosts: [{ host, requests: 2 }] }] };
export const listedCheck: ListedCheck = {
  checkId: 'chk_7d1e3f5a9b2c4d6e8f01',
  checkedAt: laterAt,
  by: 'anna@shop.example',
  bannerVersion: 3,
  sha256: '0f4636c78f65d3639ece5a064b5ae753e3408614a14fb18ab4d7540d2c248543',
};
export const checksPage: ChecksPage = { checks: [listedCheck], nextCursor: null };
export const shownCheck: ShownCheck = {
  ...listedCheck,
  result: { ...checked, steps: [{ ...seen, hosts: [{ host, requests: 2, known }] }] },
};
