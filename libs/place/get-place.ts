/** GET /v1/consent/:domainId/place: for a page whose banner depends on the visitor's place. */
import type { Middleware } from '#libs/base/http/context';
import { guard } from '#libs/base/http/guard';
import type { PlaceOf } from './place-of.ts';
import { placeRoutes } from './routes.ts';

/** Only the browser caches the place: other visitors behind a shared cache may be elsewhere. */
const caching = 'private, max-age=3600';

export const getPlace = ({ placeOf }: { placeOf: PlaceOf }): Middleware =>
  guard(placeRoutes.getPlace, (ctx) => {
    const { country, region } = placeOf(ctx);
    ctx.set('Cache-Control', caching);
    ctx.body = { country: country ?? null, region: region ?? null };
  });
