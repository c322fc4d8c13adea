/** Types of requests and responses, derived from the endpoints' rows. */
import type { bannerRoutes } from '#libs/banner/routes';
import type { AnswerOf, BodyOf, ParamsOf, QueryOf } from '#libs/base/http/routes';
import type { logRoutes } from '#libs/log/routes';
import type { noticeRoutes } from '#libs/notices/routes';
import type { peopleRoutes, signInRoutes } from '#libs/people/routes';
import type { privacyRoutes } from '#libs/privacy/routes';
import type { proofRoutes } from '#libs/proof/routes';
import type { statsRoutes } from '#libs/stats/routes';
import type { manageRoutes } from '#libs/tenants/routes';
import type { webhookRoutes } from '#libs/webhooks/routes';

type Rows = typeof statsRoutes &
  typeof logRoutes &
  typeof noticeRoutes &
  typeof bannerRoutes &
  typeof proofRoutes &
  typeof privacyRoutes &
  typeof manageRoutes &
  typeof peopleRoutes &
  typeof signInRoutes &
  typeof webhookRoutes;
/** By method and path. */
type Endpoints = { [Name in keyof Rows as `${Rows[Name]['method']} ${Rows[Name]['path']}`]: Rows[Name] };
export type Endpoint = keyof Endpoints;

export interface Call {
  /** values for the `:name`s of the path */
  params?: Record<string, string | number>;
  query?: Record<string, string | number | boolean | undefined>;
  body?: object;
  /** the version to change (`If-Match`) */
  tag?: string | null;
  signal?: AbortSignal | undefined;
}

/** Also accepts strings from the page's address: the service validates them. */
export type Asked<R> = { [Name in keyof QueryOf<R>]?: QueryOf<R>[Name] | string | undefined };

type Given<R> = Call &
  (R extends { params: unknown } ? { params: ParamsOf<R> } : { params?: never }) &
  (R extends { query: unknown } ? { query?: Asked<R> } : { query?: never }) &
  (R extends { body: unknown } ? { body: BodyOf<R> } : { body?: never });

export interface Called<Body> {
  body: Body;
  /** its version, if the response has one */
  tag: string | null;
}

export type GivenTo<Of extends Endpoint> = Given<Endpoints[Of]>;
export type AnswerTo<Of extends Endpoint> = AnswerOf<Endpoints[Of]>;
interface How {
  headers?: Record<string, string | undefined>;
  /** aborts the request */
  expiry?: AbortSignal;
}

export type Ask = <Of extends Endpoint>(endpoint: Of, given: GivenTo<Of>, how?: How) => Promise<Called<AnswerTo<Of>>>;
/** Like `Ask`, but returns the raw response. */
export type AskRaw = <Of extends Endpoint>(endpoint: Of, given: GivenTo<Of>, how?: How) => Promise<Response>;

/** Prefix of a domain's paths. */
export const domainPath = '/v1/consent/:domainId';

export const bodyOf = <Body>({ body }: Called<Body>): Body => body;

/** The largest page size. */
const listed = 200;

/** Reads all pages of a list. An organization has few of each thing. */
export async function readAll<Page extends { nextCursor: string | null }, Item>(
  ask: (query: { limit: number; cursor: string | undefined }) => Promise<Called<Page>>,
  itemsOf: (page: Page) => Item[],
): Promise<Item[]> {
  const items: Item[] = [];
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const { body } = await ask({ limit: listed, cursor });
    items.push(...itemsOf(body));
    cursor = body.nextCursor;
  }
  return items;
}
