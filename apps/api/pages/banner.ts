/** GET /w/:domainId.js: the one tag of a site. It depends on nothing in the request except the domain's id. */

import type { LiveBanners } from '#libs/banner/live';
import { createScripts } from '#libs/banner/script';
import type { Middleware } from '#libs/base/http/context';
import { forDocuments } from '#libs/base/http/security-headers';
import { Problem } from '#libs/base/terms/problem';
import { atOnce, sendPacked } from './send-packed.ts';
import type { WidgetCache } from './widget-cache.ts';

/** Without this header, browsers report that the resource policy blocked the script, not the status of the error. */
const forSites = { 'Cross-Origin-Resource-Policy': 'cross-origin' };
/** Caches ask again after a minute, since the domain may be created or restored. */
const soon = 'public, max-age=60';

export function bannerScript({ banners, widget }: { banners: LiveBanners; widget: WidgetCache }): Middleware {
  const scriptOf = createScripts(widget.current('widget').content, widget.current('assent-extras').content);
  return async (ctx) => {
    // for an error
    ctx.set({ ...forDocuments, ...forSites, 'Cache-Control': 'no-store' });
    const line = await banners.line(ctx.params.domainId);
    if (!line) throw new Problem('not_found', 'no such domain is in use', { headers: { 'Cache-Control': soon } });
    for (const name in forDocuments) ctx.remove(name);
    ctx.set({ 'Access-Control-Allow-Origin': '*', ...forSites });
    sendPacked(ctx, scriptOf(line), 'text/javascript; charset=utf-8', atOnce);
  };
}
