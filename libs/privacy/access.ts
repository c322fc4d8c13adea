/** All that is stored about a visitor: GET …/visitors/:visitorId, or POST …/visitors/lookup. */

import type { Database } from '#libs/base/db/database';
import { inPlaces } from '#libs/base/db/in-places';
import { patient } from '#libs/base/db/patient';
import type { Middleware } from '#libs/base/http/context';
import { keepingOpen, toStream } from '#libs/base/http/stream';
import type { Log } from '#libs/base/ops/process-log';
import { accessIn } from '#libs/tenants/bearer';
import { endOf, type SharedPlaces } from '#libs/tenants/shared-places';
import { addVisitorAct } from '#libs/tenants/visitor-acts';
import { allAbout } from './about.ts';
import { forVisitor } from './requested-visitor.ts';
import { listVisitorDomains } from './visitor-records.ts';

interface Parts {
  config: { privacyKey: Buffer | undefined };
  db: Database;
  log: Log;
  places: SharedPlaces;
}

export const access = (parts: Parts, given: 'path' | 'body'): Middleware =>
  forVisitor(parts, given, async (ctx, visitor) => {
    const { log, places } = parts;
    const { organizationId } = visitor;
    const end = endOf(ctx);
    const leave = await places.open.visitors.take(organizationId, end).catch(() => undefined);
    // answered by the deadline, or its client has left
    if (!leave || end.aborted) return leave?.();
    ctx.res.once('close', leave);
    const db = inPlaces(parts.db, places.reads, organizationId);
    const actor = accessIn(ctx).subject;
    await db.run((sql) => addVisitorAct(sql, { ...visitor, actor, act: 'visitor.access' }));
    const domains = await db.run((sql) => listVisitorDomains(sql, visitor, visitor.visitorId));
    ctx.type = 'application/json';
    const pages = patient(inPlaces(parts.db, places.reads, organizationId, end));
    const texts = allAbout(pages, visitor.visitorId, domains, (differing) =>
      log.error({ event: 'entry_differs', ...differing }, 'a record is not what was sealed'),
    );
    ctx.body = toStream(keepingOpen(ctx, texts));
  });
