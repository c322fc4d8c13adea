/** What visitors were shown: banner versions with their decisions, and notices. */

import { AssentError } from '#libs/client/assent-error';
import type { NoticesPage } from '#libs/notices/contract';
import type { Api } from '../data/api.ts';
import { readVersions, type Version } from '../data/banner-versions.ts';
import { bodyOf, domainPath } from '../data/calls.ts';

export type Listed = NoticesPage['notices'][number];

type NoticesQuery = { to?: string; notice?: string; limit?: number; cursor?: string };

/** Newest first; `to`: only notices first seen by the end of this day. */
export const listNotices = ({ call }: Api, domainId: string, query: NoticesQuery, signal?: AbortSignal) =>
  call(`get ${domainPath}/notices`, { params: { domainId }, query, signal }).then(bodyOf);

/** A notice with its document. */
export async function readNotice(api: Api, domainId: string, hash: string, signal?: AbortSignal) {
  const [text, { notices }] = await Promise.all([
    api.notice(domainId, hash, signal),
    listNotices(api, domainId, { notice: hash }, signal),
  ]);
  const [listed] = notices;
  if (!listed) throw new AssentError('notice_not_found', 'it was deleted meanwhile');
  return { ...listed, text };
}
export type WholeNotice = Awaited<ReturnType<typeof readNotice>>;

export interface Shown {
  version: string | null;
  /** absent if the version was not live */
  published: Version | undefined;
  /** decisions of the day */
  decisions: number;
}

export interface Day extends NoticesPage {
  /** the versions that were live on the day, then other versions in its decisions */
  shown: Shown[];
}

export async function readDay(api: Api, domainId: string, day: string, signal?: AbortSignal): Promise<Day> {
  const [versions, { groups = [] }, page] = await Promise.all([
    readVersions(api, domainId, signal),
    api.stats(domainId, { from: day, to: day, by: 'bannerVersion' }, signal),
    listNotices(api, domainId, { to: day, limit: 100 }, signal),
  ]);
  // compared as text, a time comes after its day
  const isLive = ({ publishedAt, until }: Version) =>
    publishedAt.slice(0, 10) <= day && (until === null || until > day);
  const live = new Map<string | null, Version>(versions.filter(isLive).map((each) => [String(each.version), each]));
  const decisions = new Map(
    groups.flatMap((each) => ('total' in each && !each.other ? [[each.value, each.total]] : [])),
  );
  const shown = [...new Set([...live.keys(), ...decisions.keys()])].map((version) => ({
    version,
    published: live.get(version),
    decisions: decisions.get(version) ?? 0,
  }));
  return { ...page, shown };
}
