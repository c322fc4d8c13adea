import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { z } from 'zod';
import { isJson, listed, type Printed, print, type Tools } from '#libs/base/cli/session';
import { flags, none, text, toggle, verbsOf } from '#libs/base/cli/verb';
import type { Database, Sql } from '#libs/base/db/database';
import { createPerform } from '#libs/tenants/audited-change';
import { checkSettings } from '#libs/widget/check-settings';
import {
  companions,
  hashedPath,
  integrityOf,
  keepWidgetFiles,
  readWidgetFile,
  type WidgetFile,
} from '#libs/widget/files';
import { largestDraft, mostVersions } from './contract.ts';
import { findDraft, saveDraft } from './drafts.ts';
import { findLive } from './live.ts';
import { publish } from './publishing.ts';
import { type LiveBanner, literal, settingsOf } from './script.ts';
import { findVersion, listVersions, toBannerVersion } from './versions.ts';

type BannerTools = Tools<{ actor: string; publicUrl: string | undefined }>;

/** The widget's build lies beside the command line's. */
const widgetBuild = new URL('../../apps/widget/', import.meta.url);

export function bannerCommand(tools: BannerTools): Command {
  const noun = new Command('banner').description("a domain's banner: its draft, and what is published");
  const verb = verbsOf(noun);

  const shown = z.object({
    pinned: toggle('print a tag for one release of the widget, with the live settings, as HTML'),
  });
  verb('show <domain>', flags(shown), ({ pinned }, domainId) => {
    if (pinned) return showPinned(tools, domainId);
    return onDomain(tools, domainId, async (sql, number) => {
      const [draft, live] = [await findDraft(sql, number), await findVersion(sql, number)];
      return { domainId, live: live?.number ?? null, settings: JSON.parse(draft.text) };
    });
  }).description('show the draft, and which version is live');

  verb('set <file> <domain>', none, async (_, file, domainId) => {
    const settings = readSettings(file);
    await onDomain(tools, domainId, (sql, number) => saveDraft(sql, number, settings));
    return { domainId, bytes: Buffer.byteLength(settings) };
  }).description('save a JSON file as the draft; pages do not change until you publish');

  const published = z.object({
    note: text('what was changed', 'text'),
    restore: z.int().min(1).max(mostVersions).optional().meta({
      description: 'publish this earlier version again instead',
      value: 'version',
    }),
  });
  verb('publish <domain>', flags(published), async ({ note, restore }, domainId) => {
    const { actor } = tools.config();
    const wanted = { by: actor, note, version: restore };
    const { version, isNew } = await tools.database((db) => publish(createPerform(db, actor), domainId, wanted));
    const shown = { domainId, ...toBannerVersion(version), isNew };
    return (self) => {
      if (isNew || isJson(self)) print(self, shown);
      else process.stdout.write(`nothing has changed since version ${version.number}, which stays live\n`);
    };
  }).description('publish the draft');

  verb('versions <domain>', none, async (_, domainId) => {
    const versions = await onDomain(tools, domainId, (sql, domainNumber) =>
      listVersions(sql, { domainNumber, limit: mostVersions }),
    );
    return listed('versions', versions.map(toBannerVersion));
  }).description('list the published versions, newest first');
  return noun;
}

const onDomain = <T>(tools: BannerTools, domainId: string, work: (sql: Sql, number: number) => Promise<T>) =>
  tools.database((db: Database) =>
    db.write(async (sql) => {
      const [domain] = await sql<{ number: number }[]>`select number from domains where id = ${domainId}`;
      if (!domain) throw new Error(`no domain ${domainId}`);
      return work(sql, domain.number);
    }),
  );

function readSettings(file: string): string {
  let settings: unknown;
  try {
    settings = JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new Error(`cannot read ${file}: ${error instanceof Error ? error.message : error}`);
  }
  const faults = checkSettings(settings).map(({ path, message }) => `${path} ${message}`.trim());
  if (faults.length > 0) throw new Error(`${file}: ${faults.join('; ')}`);
  const text = JSON.stringify(settings);
  if (Buffer.byteLength(text) > largestDraft) throw new Error(`${file} must have at most ${largestDraft} bytes`);
  return text;
}

async function showPinned(tools: BannerTools, domainId: string): Promise<Printed> {
  const { publicUrl } = tools.config();
  if (publicUrl === undefined) throw new Error('set PUBLIC_URL: the tag contains it');
  const widget = readWidgetFile(widgetBuild, 'widget');
  const others = companions.map((name) => readWidgetFile(widgetBuild, name));
  const live = await onDomain(tools, domainId, async (sql) => {
    // the printed address must stay valid in later releases, with all that it loads
    await keepWidgetFiles(sql, [widget, ...others]);
    const [found] = await findLive(sql, [domainId]);
    return found;
  });
  if (!live) throw new Error(`domain ${domainId} is archived; restore it first`);
  if (!live.key) throw new Error(`domain ${domainId} has no published banner`);
  const html = pinnedTag(publicUrl, widget, live);
  return (self) => {
    if (isJson(self)) print(self, { domainId, version: live.version, html });
    else process.stdout.write(html);
  };
}

const pinnedTag = (publicUrl: string, widget: WidgetFile, live: LiveBanner): string =>
  `<script>window.assentConfig = ${literal(settingsOf(live))};</script>\n` +
  `<script src="${publicUrl}${hashedPath(widget)}" integrity="${integrityOf(widget)}" crossorigin="anonymous" ` +
  `data-domain="${live.domainId}" data-key="${live.key}" defer></script>\n`;
