/** Publishes a domain's banner, with a token that may. */
import { expect } from 'vitest';
import type { BannerVersion, ShownVersion, VersionsPage } from '#libs/banner/contract';
import { createAsk } from './client.ts';
import type { Stack } from './stack.ts';

interface Publisher extends Pick<Stack, 'domainId'> {
  api: { baseUrl: string };
  tenant: { organizationId: string };
}

export function createPublisher({ api, tenant, domainId }: Publisher) {
  const ask = createAsk(api.baseUrl, tenant.organizationId, { scope: 'publish' });
  const banner = `/v1/organization/domains/${domainId}/banner`;
  const save = (settings: unknown, headers: Record<string, string> = {}) =>
    ask<Record<string, unknown>>('PUT', banner, { body: settings, headers });
  const publishDraft = (body: object = {}, headers: Record<string, string> = {}) =>
    ask<BannerVersion>('POST', `${banner}/publish`, { body, headers });
  return {
    draft: () => ask<Record<string, unknown>>('GET', banner),
    save,
    publishDraft,
    versions: (query = '') => ask<VersionsPage>('GET', `${banner}/versions?${query}`),
    version: (number: number) => ask<ShownVersion>('GET', `${banner}/versions/${number}`),
    publish: async (settings: object): Promise<BannerVersion> => {
      const saved = await save(settings);
      expect([saved.status, saved.body]).toEqual([200, settings]);
      const published = await publishDraft();
      expect(published.status).toBeLessThan(300);
      return published.body;
    },
  };
}
