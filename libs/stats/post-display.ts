/** POST /v1/consent/:domainId/displays: a banner was shown. Displays are counted in memory; the response does not wait. */
import { isbot } from 'isbot';
import { LRUCache } from 'lru-cache';
import { readOptionalObject, wantsStrict } from '#libs/base/http/body';
import type { Step } from '#libs/base/http/context';
import { refuseFields } from '#libs/base/terms/field-errors';
import type { NoteLeftOut } from '#libs/record/left-out';
import { createCheck } from '#libs/record/rules';
import { domainIn } from '#libs/tenants/page-access';
import { displayBody } from './contract.ts';
import type { DisplayBuffer } from './display-buffer.ts';

export const checkDisplay = createCheck(displayBody);

export function countDisplay({ displays, noteLeftOut }: { displays: DisplayBuffer; noteLeftOut: NoteLeftOut }): Step {
  const isCrawler = createCrawlerCheck();
  return async (ctx) => {
    const domain = domainIn(ctx);
    const isStrict = wantsStrict(ctx);
    const { body, leftOut, broken } = checkDisplay(await readOptionalObject(ctx), { isStrict });
    if (!body) throw refuseFields(broken);
    if (leftOut.length > 0) noteLeftOut(domain.domainId, leftOut);
    if (!isCrawler(ctx.req.headers['user-agent'])) displays.count(domain, ctx.state.receivedAt, body);
    ctx.status = 204;
  };
}

/** User agents whose kind is cached, because detecting it takes longer than the rest of the request. */
const remembered = 5_000;

/** Decides as for records: by the first 512 characters of the user agent. A request without one counts as a crawler's. */
function createCrawlerCheck(): (userAgent: string | undefined) => boolean {
  const known = new LRUCache<string, boolean>({ max: remembered });
  return (userAgent) => {
    const text = userAgent?.slice(0, 512);
    if (!text) return true;
    const found = known.get(text);
    if (found !== undefined) return found;
    const crawler = isbot(text);
    known.set(text, crawler);
    return crawler;
  };
}
