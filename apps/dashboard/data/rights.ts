/** Descriptions of the scopes, in the dashboard's words. */
import type { Scope } from '#libs/base/terms/terms';

export const rights: Record<Scope, string> = {
  read: 'See statistics and the log',
  privacy: 'Look up and erase visitors',
  import: 'Import records',
  manage: 'Manage domains, keys, webhooks and people',
  publish: 'Change and publish banners',
  current: 'See what visitors allow now, for a site’s server',
};
