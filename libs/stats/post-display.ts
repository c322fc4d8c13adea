/** POST /v1/consent/:domainId/displays: a banner was shown. Counted in memory, so it is answered at once. */
import { isbot } from 'isbot';
import { LRUCache } from 'lru-cache';
import type { Step } from '#libs/base/http/context';
import { parseOptions, refuseFields, toFieldErrors } from '#libs/base/http/field-errors';
import { readOptionalObject } from '#libs/base/http/json-body';
import { domainIn } from '#libs/tenants/api-key';
import { compiledDisplayBody, type DisplayBody } from './display-body.ts';
import type { DisplayCounter } from './display-counter.ts';

export function display({ displays }: { displays: DisplayCounter }): Step {
  const isCrawler = createCrawlerCheck();
  return async (ctx) => {
    const domain = domainIn(ctx);
    const body = checkDisplay(await readOptionalObject(ctx));
    if (!isCrawler(ctx.req.headers['user-agent'])) displays.count(domain, ctx.state.receivedAt, body);
    ctx.status = 204;
  };
}

function checkDisplay(given: Record<string, unknown>): DisplayBody {
  const read = compiledDisplayBody.safeParse(given, parseOptions);
  if (read.success) return read.data;
  throw refuseFields(toFieldErrors(read.error.issues));
}

/** Texts whose look is remembered: a look takes longer than all else here. */
const remembered = 5_000;

/** As records are told apart: by at most 512 characters, and what names nothing is a program. */
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
