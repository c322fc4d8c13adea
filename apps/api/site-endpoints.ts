/** Endpoints for the pages of websites: with a domain's API key, or for anybody on an allowed origin. */
import type Router from '@koa/router';
import { lookUpHosts, storeCheck } from '#libs/banner/checked-page-handlers';
import { siteCheckRoutes } from '#libs/banner/routes';
import type { Middleware, State } from '#libs/base/http/context';
import { deadline } from '#libs/base/http/deadline';
import { putNotice } from '#libs/notices/handlers';
import { noticeKeyRoutes } from '#libs/notices/routes';
import { getPlace } from '#libs/place/get-place';
import { placeRoutes } from '#libs/place/routes';
import { countRefusal } from '#libs/record/count-refusals';
import { record } from '#libs/record/post';
import { recordRoutes } from '#libs/record/routes';
import { countDisplay } from '#libs/stats/post-display';
import { displayRoutes } from '#libs/stats/routes';
import {
  allowedOrigin,
  apiKey,
  bySteps,
  cors,
  domainOfPage,
  pageRateLimit,
  pageRoutes,
  preflight,
  withKey,
  withToken,
} from '#libs/tenants/page-access';
import type { Deps } from './deps.ts';

const keyChecks = (deps: Deps) => [cors(deps), apiKey(deps), allowedOrigin(deps)];

/** Records and displays come most often, so they are matched before any router. */
export function recordEndpoints(deps: Deps): Middleware {
  const OPTIONS = [cors(deps), preflight(deps, 'POST')];
  const { recordRatePerMinute, displayRatePerMinute } = deps.config;
  return pageRoutes([
    {
      ...recordRoutes.record,
      OPTIONS,
      POST: [...keyChecks(deps), pageRateLimit('record', recordRatePerMinute), record(deps)],
      onRefusal: countRefusal(deps),
    },
    {
      ...displayRoutes.countDisplay,
      OPTIONS,
      POST: [...keyChecks(deps), pageRateLimit('display', displayRatePerMinute), countDisplay(deps)],
    },
  ]);
}

/** `managed`: the checks of an access token that may manage the organization. */
export function addSiteEndpoints(router: Router<State>, deps: Deps, managed: Middleware[]): void {
  const { displayRatePerMinute } = deps.config;

  // with a page's key or, from an organization's own servers, with a token
  const notice = noticeKeyRoutes.putNotice.path;
  router.options(notice, withKey(cors(deps), preflight(deps, 'POST, PUT')));
  router.put(notice, deadline, withKey(...keyChecks(deps)), ...managed.map(withToken), putNotice(deps));

  // without a key, on the domain's own pages
  const { path: place } = placeRoutes.getPlace;
  const ofPage = [cors(deps), domainOfPage(deps), allowedOrigin(deps)];
  router.options(place, bySteps(cors(deps), preflight(deps, 'GET')));
  router.get(place, deadline, bySteps(...ofPage, pageRateLimit('place', displayRatePerMinute)), getPlace(deps));

  // with the ticket of a site check, on the page that is checked
  const checkRate = pageRateLimit('check', displayRatePerMinute);
  for (const [{ path }, handle] of [
    [siteCheckRoutes.lookUpHosts, lookUpHosts(deps)],
    [siteCheckRoutes.storeCheck, storeCheck(deps)],
  ] as const) {
    router.options(path, bySteps(cors(deps), preflight(deps, 'POST')));
    router.post(path, deadline, bySteps(...ofPage, checkRate), handle);
  }
}
