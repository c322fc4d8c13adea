/** Publishing: adds a version, prepares the notices that its visitors can see first, and ensures the page's key. */
import { hash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { Sql } from '#libs/base/db/database';
import { createYield } from '#libs/base/event-loop';
import { refuseFields } from '#libs/base/terms/field-errors';
import { Problem } from '#libs/base/terms/problem';
import { type Notice, noticeLimits } from '#libs/notices/contract';
import { putNotice } from '#libs/notices/documents';
import { expectNotices } from '#libs/notices/expected';
import type { Perform } from '#libs/tenants/audited-change';
import { Archived, QuotaReached } from '#libs/tenants/change-errors';
import { setValidity } from '#libs/tenants/domains';
import { ensurePageKey } from '#libs/tenants/keys';
import { domainNotFound } from '#libs/tenants/requirements';
import { asksAgain } from '#libs/widget/asks-again';
import { checkSettings } from '#libs/widget/check-settings';
import type { WidgetConfig } from '#libs/widget/config';
import { publishedNotices } from '#libs/widget/published-notices';
import { mostVersions } from './contract.ts';
import { findDraft } from './drafts.ts';
import { addVersion, findVersion, type Version } from './versions.ts';

/** How many notices go to Postgres at once: hashes in one statement, or documents in parallel. */
const batchSize = 20;

interface Wanted {
  /** who publishes */
  by: string;
  note?: string | null | undefined;
  /** an earlier version; default: the draft */
  version?: number | null | undefined;
}

/** `isNew`: false if nothing has changed, and the live version is returned. Throws the 400, 404 and 409 of the contract. */
export const publish = (
  perform: Perform,
  domainId: string,
  { by, note = null, version: restored = null }: Wanted,
): Promise<{ version: Version; isNew: boolean }> =>
  perform(async (sql, noteAct) => {
    const domainNumber = await lockDomain(sql, domainId);
    const settings = await findSettings(sql, domainNumber, restored);
    const live = await findVersion(sql, domainNumber);
    await ensurePageKey(sql, noteAct, domainId);
    const given: WidgetConfig = JSON.parse(settings);
    const before: WidgetConfig | undefined = live && JSON.parse(live.settings);
    if (live && isDeepStrictEqual(given, before)) return { version: live, isNew: false };
    if (live && live.number >= mostVersions) throw new QuotaReached(mostVersions, 'versions of this banner');
    const faults = checkSettings(given);
    if (faults.length > 0) throw refuseFields(faults);
    const number = (live?.number ?? 0) + 1;
    const stored = await expectFirstNotices(given, number, (hashes) => expectNotices(sql, domainNumber, hashes));
    for (let at = 0; at < stored.length; at += batchSize)
      await Promise.all(stored.slice(at, at + batchSize).map((notice) => putNotice(sql, domainId, notice, null)));
    const asks = before !== undefined && asksAgain(given, before);
    const version = await addVersion(sql, domainNumber, { number, by, note, restored, asksAgain: asks, settings });
    await setValidity(sql, domainNumber, {
      // read as the widget reads them: 12 months by default, and no policy version if it is empty
      validMonths: Number(given.maxAgeMonths ?? 0) || 12,
      policyVersion: `${given.policyVersion ?? ''}` || null,
    });
    const details = { version: number, ...(restored !== null && { restored }), ...(note !== null && { note }) };
    await noteAct({ act: 'banner.publish', subject: domainId, domainId, details });
    return { version, isNew: true };
  });

/** Locked until the transaction ends, so that the second of two publications sees the first. */
async function lockDomain(sql: Sql, domainId: string): Promise<number> {
  const [domain] = await sql<{ number: number; archivedAt: Date | null }[]>`
    select number, archived_at as "archivedAt" from domains where id = ${domainId} for no key update`;
  if (!domain) throw domainNotFound();
  if (domain.archivedAt) throw new Archived(`domain ${domainId} is archived; restore it first`);
  return domain.number;
}

async function findSettings(sql: Sql, domainNumber: number, version: number | null): Promise<string> {
  if (version === null) return (await findDraft(sql, domainNumber)).text;
  const found = await findVersion(sql, domainNumber, version);
  if (!found) throw versionNotFound();
  return found.settings;
}

export const versionNotFound = () => new Problem('version_not_found', 'no such version of this banner was published');

/**
 * Registers the hashes of all first notices, with and without GPC. They go in batches, since thousands would leave the
 * transaction idle for too long. Returns the notices to store now: without GPC, in English and in the languages of the
 * site's own texts.
 */
async function expectFirstNotices(
  settings: WidgetConfig,
  version: number,
  registerHashes: (hashes: string[]) => Promise<unknown>,
): Promise<Notice[]> {
  const ofSite = languagesOf(settings);
  const stored: Notice[] = [];
  let hashes: string[] = [];
  const letOthersGoOn = createYield();
  for (const { language, variant, gpc, text } of publishedNotices(settings, String(version))) {
    await letOthersGoOn();
    const document = Buffer.from(text);
    if (document.length > noticeLimits.bytes) {
      const which = variant === null ? language : `${language} of the variant ${variant}`;
      const message = `the notice in ${which} must have at most ${noticeLimits.bytes} bytes: shorten texts, or name fewer services`;
      throw new Problem('invalid_request', message, { errors: [{ path: '', message }] });
    }
    const notice = { hash: hash('sha256', document), document, language, version: String(version) };
    if (!gpc && ofSite.has(plainTag(language))) stored.push(notice);
    hashes.push(notice.hash);
    if (hashes.length < batchSize) continue;
    await registerHashes(hashes);
    hashes = [];
  }
  await registerHashes(hashes);
  return stored;
}

const plainTag = (language: string): string => language.replaceAll('_', '-').toLowerCase();

/** English, and the languages of the site's own texts. */
const languagesOf = ({ texts = {} }: WidgetConfig): Set<string> => {
  const own = Object.keys(texts).filter((name) => typeof texts[name] === 'object');
  return new Set(['en', ...own.map(plainTag)]);
};
