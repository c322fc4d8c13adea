/** Banners. */
import { laterAt } from '#libs/base/terms/example-names';
import type { BannerVersion, PublishBody, ShownVersion, VersionsPage } from './contract.ts';

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
