/** The visitor in a request, and the scope. The id is in the path, or in the body to keep it out of access logs. */

import { z } from 'zod';
import type { Context, Middleware } from '#libs/base/http/context';
import { guard, requireDecodable } from '#libs/base/http/guard';
import { notConfigured } from '#libs/base/terms/problem';
import { organizationIn } from '#libs/tenants/bearer';
import { requireOwnDomain } from '#libs/tenants/requirements';
import { createVisitorHash, type VisitorHash } from '#libs/tenants/visitors';
import type { visitorBody } from './contract.ts';

export interface Visitor {
  organizationId: string;
  /** undefined: all domains of the organization */
  domainId: string | undefined;
  visitorId: string;
  hash: Buffer;
}

/** Handles a request for a visitor that the organization may ask for. */
type Handler = (ctx: Context, visitor: Visitor) => Promise<void>;

interface Named {
  domainId?: string | undefined;
  visitorId?: string | undefined;
}

/**
 * A route about a visitor: of the domain in its path, or of the organization; the visitor's id is in the path or in the
 * body.
 */
export interface VisitorRoute {
  params?: z.ZodType<Named>;
  body?: { schema: typeof visitorBody };
}

export function forVisitor(
  { params = z.object({}), body }: VisitorRoute,
  { config }: { config: { privacyKey: Buffer | undefined } },
  handle: Handler,
): Middleware {
  const respond = async (ctx: Context, { domainId, visitorId }: Named) => {
    if (visitorId === undefined) throw new Error('the route names no visitor');
    const organization = organizationIn(ctx);
    if (domainId !== undefined) requireOwnDomain(organization, domainId);
    const { organizationId } = organization;
    await handle(ctx, {
      organizationId,
      domainId,
      visitorId,
      hash: requireVisitorHash(config.privacyKey)(organizationId, visitorId),
    });
  };
  if (body) return guard({ params, body }, (ctx, given) => respond(ctx, { ...given.params, ...given.body }));
  return guard({ params }, (ctx, given) => {
    requireDecodable(ctx.path, 'visitorId');
    return respond(ctx, given.params);
  });
}

/** Without the key nobody can be erased for good, so the operator gets a clear message. */
export function requireVisitorHash(privacyKey: Buffer | undefined): VisitorHash {
  if (privacyKey) return createVisitorHash(privacyKey);
  throw notConfigured('this installation has no PRIVACY_KEY, which visitors are erased with');
}
