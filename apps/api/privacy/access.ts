/** All that is stored about a visitor: GET …/visitors/:visitorId, or POST …/visitors/lookup. */
import { patient } from '#libs/store/patient';
import { addVisitorAct } from '#libs/store/privacy/acts';
import { allAbout } from '#libs/store/privacy/all-about';
import { listVisitorDomains } from '#libs/store/privacy/visitor-records';
import type { Database } from '#libs/store/sql';
import type { Log } from '#libs/telemetry/log';
import { accessIn } from '../access/bearer.ts';
import type { Middleware } from '../http/context.ts';
import { toStream } from '../http/stream.ts';
import { forVisitor } from './visitor.ts';

interface Parts {
  config: { privacyKey: Buffer | undefined };
  db: Database;
  log: Log;
}

export const access = (parts: Parts, given: 'path' | 'body'): Middleware =>
  forVisitor(parts, given, async (ctx, visitor) => {
    const { db, log } = parts;
    const actor = accessIn(ctx).subject;
    await db.run((sql) => addVisitorAct(sql, { ...visitor, actor, act: 'visitor.access' }));
    const domains = await db.run((sql) => listVisitorDomains(sql, visitor, visitor.visitorId));
    ctx.type = 'application/json';
    ctx.body = toStream(
      allAbout(patient(db), visitor.visitorId, domains, (differing) =>
        log.error({ event: 'entry_differs', ...differing }, 'a record is not what was sealed'),
      ),
    );
  });
