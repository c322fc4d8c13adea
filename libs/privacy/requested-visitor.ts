/** Which visitor a request is about, and where; the id is in the path, or in the body, to keep it out of others' logs. */

import { readJsonObject } from '#libs/base/http/body';
import type { Context, Middleware } from '#libs/base/http/context';
import { guard } from '#libs/base/http/guard';
import { parseOptions, refuseFields, toFieldErrors } from '#libs/base/terms/field-errors';
import { domainPath } from '#libs/base/terms/parameters';
import { notConfigured, Problem } from '#libs/base/terms/problem';
import { organizationIn } from '#libs/tenants/bearer';
import { requireOwnDomain } from '#libs/tenants/requirements';
import { createVisitorHash, type VisitorHash } from '#libs/tenants/visitors';
import { visitorBody } from './contract.ts';

export interface Visitor {
  organizationId: string;
  /** undefined: all domains of the organization */
  domainId: string | undefined;
  visitorId: string;
  hash: Buffer;
}

/** What a handler gets: the visitor, once the request is known to be allowed to ask. */
type Handler = (ctx: Context, visitor: Visitor) => Promise<void>;

const givenIn = {
  path: async (ctx: Context): Promise<unknown> => ({ visitorId: lastSegment(ctx) }),
  body: readJsonObject,
};

/** `given`: where the visitor's id is. */
export function forVisitor(
  { config }: { config: { privacyKey: Buffer | undefined } },
  given: keyof typeof givenIn,
  handle: Handler,
): Middleware {
  const hashOf = config.privacyKey && createVisitorHash(config.privacyKey);
  return guard({ params: domainPath.partial() }, async (ctx, { params: { domainId } }) => {
    const read = visitorBody.safeParse(await givenIn[given](ctx), parseOptions);
    if (!read.success) throw refuseFields(toFieldErrors(read.error.issues, given));
    const organization = organizationIn(ctx);
    if (domainId !== undefined) requireOwnDomain(organization, domainId);
    const { organizationId } = organization;
    const { visitorId } = read.data;
    await handle(ctx, { organizationId, domainId, visitorId, hash: requireKey(hashOf)(organizationId, visitorId) });
  });
}

/** Without the key nobody could be erased for good, so the operator is told in words that they understand. */
export function requireKey(hashOf: VisitorHash | undefined): VisitorHash {
  if (hashOf) return hashOf;
  throw notConfigured('this installation has no PRIVACY_KEY, which visitors are erased with');
}

/** The router leaves what is not percent-encoded UTF-8 as it is; here it is refused. */
function lastSegment(ctx: Context): string {
  try {
    return decodeURIComponent(ctx.path.slice(ctx.path.lastIndexOf('/') + 1));
  } catch {
    const message = 'is not percent-encoded UTF-8';
    throw new Problem('invalid_request', `/visitorId ${message}`, {
      errors: [{ path: '/visitorId', in: 'path', message }],
    });
  }
}
