/** An endpoint with an access token: its route, and a handler that knows nothing of Koa. */
import type { Database } from '#libs/base/db/database';
import type { Context, Middleware } from '#libs/base/http/context';
import { hasTag, requiredVersion, type Versioned } from '#libs/base/http/etag';
import { guard } from '#libs/base/http/guard';
import type { AnswerOf, BodyOf, ParamsOf, QueryOf, Route } from '#libs/base/http/routes';
import type { Slots } from '#libs/base/slots';
import type { AccessToken } from './access-token.ts';
import { accessIn, organizationIn } from './bearer.ts';
import { problemOf } from './change-errors.ts';
import { type Once, onceFor, type SecretKeys } from './idempotency.ts';
import type { LogReads } from './log-reads.ts';
import { type Reply, send } from './reply.ts';
import { workInSlot } from './request-slots.ts';
import type { Organization } from './tenants.ts';

export interface Asked<Row> {
  organization: Organization;
  access: AccessToken;
  /** the token's `sub`, the actor of its acts */
  actor: string;
  params: ParamsOf<Row>;
  query: QueryOf<Row>;
  body: BodyOf<Row>;
  /** when the request arrived, in Unix milliseconds */
  now: number;
  requestId: string;
  /**
   * The version in `If-Match`; undefined if the header is absent or `*`. Throws a 412 if it does not name the version of
   * `found`.
   */
  ifMatch: (found: Versioned) => number | undefined;
  /**
   * Whether `If-None-Match` contains this tag; undefined without the header. Koa's `fresh` would ignore the header if a
   * browser's script sets it, because `no-cache` is then sent as well.
   */
  ifNoneMatch: ((etag: string) => boolean) | undefined;
  once: Once;
  /** Does work in another slot than the route's. */
  workIn: <T>(slots: Slots, work: () => Promise<T>) => Promise<T>;
}

interface EndpointParts {
  config: SecretKeys;
  db: Database;
  logReads: LogReads;
}

/** `handle` returns the JSON that the route describes, text or bytes, or null with a 304. */
export const endpoint =
  <const Row extends Route, Parts>(
    row: Row,
    handle: (parts: Parts, asked: Asked<Row>) => Promise<Reply<AnswerOf<Row> | string | Buffer | null>>,
  ) =>
  (parts: Parts & EndpointParts): Middleware =>
    guard(row, async (ctx, given) => {
      const reply = await handle(parts, askedIn(ctx, parts, given)).catch((error: unknown) => {
        throw problemOf(error);
      });
      if (reply.read) parts.logReads.note(ctx, reply.read);
      send(ctx, reply);
    });

type Given<Row> = Pick<Asked<Row>, 'params' | 'query' | 'body'>;

/** Member by member: spreading two objects into one takes 10 µs. */
function askedIn<Row>(ctx: Context, parts: EndpointParts, { params, query, body }: Given<Row>): Asked<Row> {
  const access = accessIn(ctx);
  return {
    params,
    query,
    body,
    organization: organizationIn(ctx),
    access,
    actor: access.subject,
    now: ctx.state.receivedAt,
    requestId: ctx.state.requestId,
    ifMatch: (found) => requiredVersion(ctx, found),
    ifNoneMatch: ctx.get('if-none-match') === '' ? undefined : (etag) => hasTag(ctx, etag),
    once: onceFor(ctx, parts, body),
    workIn: (slots, work) => workInSlot(slots, ctx, work),
  };
}
