/** GET /v1/consent/:domainId/place: for a page that asks different questions in different places. */
import type { Middleware } from '#libs/base/http/context';
import { guard } from '#libs/base/http/guard';
import type { PlaceOf } from './place-of.ts';
import { placeRoutes } from './routes.ts';

/** By the browser alone: others behind the same cache may be elsewhere. */
const kept = 'private, max-age=3600';

export const getPlace = ({ placeOf }: { placeOf: PlaceOf }): Middleware =>
  guard(placeRoutes.getPlace, (ctx) => {
    const { country, region } = placeOf(ctx);
    ctx.set('Cache-Control', kept);
    ctx.body = { country: country ?? null, region: region ?? null };
  });
