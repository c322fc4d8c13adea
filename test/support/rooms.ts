/**
 * The rooms of the architecture, which test/checkout/rooms.unit.test.ts holds. A room is `libs/<room>`; what others import of it
 * is its top, and what lies in its folders is its own. Only those of `base`, and `proof/tree`, are everybody's. Paths are
 * beginnings of paths.
 */

import { tables as ofBanner } from '#libs/banner/tables';
import { tables as ofNobody, type Table } from '#libs/base/db/tables';
import { tables as ofEpochs } from '#libs/epochs/tables';
import { tables as ofNotices } from '#libs/notices/tables';
import { tables as ofPeople } from '#libs/people/tables';
import { tables as ofPrivacy } from '#libs/privacy/tables';
import { tables as ofProof } from '#libs/proof/tables';
import { tables as ofRecord } from '#libs/record/tables';
import { tables as ofStats } from '#libs/stats/tables';
import { tables as ofTenants } from '#libs/tenants/tables';
import { tables as ofWebhooks } from '#libs/webhooks/tables';
import { tables as ofWidget } from '#libs/widget/tables';

/** Floor by floor, top first. A room imports what lies on lower floors: never a room of its own floor, or one above. */
export const floors = [
  ['api', 'worker', 'cli'],
  ['process'],
  // read by processes alone: rooms are handed values
  ['settings'],
  ['webhooks', 'privacy'],
  ['log'],
  ['proof', 'banner'],
  ['stats', 'notices', 'current'],
  ['record', 'people'],
  ['place', 'epochs'],
  ['tenants'],
  ['widget'],
  ['base'],
];

/** The only rooms that open connections, and that speak HTTP as a server. */
export const drivers: Record<string, string> = {
  postgres: 'base/db',
  ioredis: 'base/redis',
  bullmq: 'record api worker cli',
  koa: 'base/http api',
};

/** Runs in a browser: the rooms and packages that it may load, not Node's modules and not zod. It speaks HTTP. */
export const inBrowsers: Record<string, string> = {
  'apps/widget/': 'widget base/terms',
  'apps/verify/':
    'proof/tree @noble/ base/terms preact apps/dashboard/parts/notice-document apps/dashboard/parts/isolated apps/dashboard/format',
  'apps/dashboard/': 'widget base/terms preact client',
  'apps/dashboard/sign-in/': 'widget base/terms preact client oauth4webapi',
  'apps/dashboard/data/passkeys': 'widget base/terms preact client @simplewebauthn/',
  'apps/dashboard/proof/': 'proof/tree @noble/',
  'libs/proof/tree/': 'proof/tree base/terms @noble/',
  'libs/client/': 'proof/tree base/terms @noble/ react',
};
/** Types of these are for pages, too. */
export const contract = /\/(contract|routes)\.ts$/;

/** The dashboard's folders, top first, and below them its other files. Those of the second line do not import each other. */
export const dashboard = [
  'app.tsx main.tsx refused.tsx',
  'domain/ erasures/ experiments/ groups/ home/ log/ notices/ people/ settings/ sign-in/ site-checks/ visitor/ webhooks/ widget-setup/',
  'parts/',
  'charts/',
  'data/',
];

/** What a process or a page loads on demand, and not when it starts. */
export const onDemand: Record<string, string> = {
  'apps/api/main.ts':
    'libs/base/ops/opentelemetry/ libs/record/queue-tracing.ts apps/api/queue-board.ts @zxcvbn-ts/ @simplewebauthn/ @opentelemetry/ @bull-board/',
  'apps/worker/main.ts': 'libs/base/ops/opentelemetry/ libs/record/queue-tracing.ts @opentelemetry/ koa @koa/',
  'apps/cli/main.ts': 'libs/record/queue-summary.ts libs/record/queue-forget.ts bullmq koa @koa/',
  'apps/dashboard/main.tsx': 'apps/dashboard/sign-in/provider.ts apps/dashboard/proof/ @simplewebauthn/',
};

/** The tables that each room alone writes. */
export const tables: Record<string, Table[]> = {
  webhooks: ofWebhooks,
  privacy: ofPrivacy,
  proof: ofProof,
  banner: ofBanner,
  stats: ofStats,
  notices: ofNotices,
  record: ofRecord,
  people: ofPeople,
  epochs: ofEpochs,
  tenants: ofTenants,
  widget: ofWidget,
  base: ofNobody,
};

/** Tables of others, written in one statement or transaction with their own. `${`: by a list, or a partition by its name. */
export const writtenTogether: Record<string, string> = {
  'libs/record/delete-all.ts': '${',
  'libs/record/persist/persist.ts': 'counters crawler_counters owed_raises',
  'libs/privacy/personal-fields.ts': 'records log_runs erased_commitments erasures_to_seal user_agents_to_look_for',
  'libs/tenants/deletion.ts': '${',
};
