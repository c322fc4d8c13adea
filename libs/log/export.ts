/** Sends all matching records as one file. */
import type { Database } from '#libs/base/db/database';
import { inSlots, retryingReads } from '#libs/base/db/long-reads';
import type { LaggingReads } from '#libs/base/db/replica';
import type { Context, Middleware } from '#libs/base/http/context';
import { guard } from '#libs/base/http/guard';
import { gzipped, holdUntilRead, keepingOpen, type PaceLimits, toStream } from '#libs/base/http/stream';
import type { UnreadResponses } from '#libs/base/http/unread-responses';
import type { ExportFormat } from '#libs/base/terms/terms';
import { accessIn, organizationIn } from '#libs/tenants/bearer';
import { requireConsentLog, requireOwnDomain } from '#libs/tenants/requirements';
import { endOf, type SharedSlots, takeOrRefuse } from '#libs/tenants/shared-slots';
import { createVisitorHash } from '#libs/tenants/visitors';
import { type ExportRequest, noteExport, readExport, readOpenEpoch } from './exported-lines.ts';
import { logRoutes } from './routes.ts';

interface Parts {
  config: { privacyKey: Buffer | undefined };
  db: Database;
  readDb: LaggingReads;
  slots: SharedSlots;
  unreadResponses: UnreadResponses;
  /** default: the contract's */
  pace?: PaceLimits;
}

const mediaTypes: Record<ExportFormat, string> = {
  ndjson: 'application/x-ndjson; charset=utf-8',
  csv: 'text/csv; charset=utf-8; header=present',
};

export function exportDomain(parts: Parts): Middleware {
  const send = sender(parts);
  return guard(logRoutes.exportDomain, async (ctx, { params: { domainId }, query }) => {
    const organization = organizationIn(ctx);
    requireOwnDomain(organization, domainId);
    const { format = 'ndjson', after: id, ...filters } = query;
    const after = id === undefined ? undefined : { domainId, id };
    const { organizationId } = organization;
    await send(ctx, { organizationId, domainIds: [domainId], format, after, ...filters }, domainId);
  });
}

export function exportOrganization(parts: Parts): Middleware {
  const send = sender(parts);
  return guard(logRoutes.exportOrganization, async (ctx, { query }) => {
    const { organizationId, domains } = organizationIn(ctx);
    const { format = 'ndjson', ...rest } = query;
    const domainIds = [...domains.keys()].toSorted();
    await send(ctx, { organizationId, domainIds, format, ...rest });
  });
}

/** `domainId`: set for an export of one domain. */
function sender({ config, db, readDb, slots, unreadResponses, pace }: Parts) {
  const hashOf = config.privacyKey && createVisitorHash(config.privacyKey);
  return async (ctx: Context, wanted: ExportRequest, domainId?: string): Promise<void> => {
    requireConsentLog(organizationIn(ctx));
    const { organizationId } = wanted;
    const busy = 'your organization has an export that is not finished';
    const leave = await takeOrRefuse(slots.open.exports, organizationId, busy);
    try {
      await noteExport(db, wanted, { actor: accessIn(ctx).subject, domainId, hashOf });
      const reads = readDb.forOneAnswer();
      const epoch = await readOpenEpoch(reads);
      // the deadline may have passed, or the client may have left
      if (ctx.res.writableEnded || ctx.res.destroyed) return leave();
      ctx.res.once('close', leave);
      setHeaders(ctx, wanted, domainId ?? wanted.organizationId);
      const pages = retryingReads(inSlots(reads, slots.exports, organizationId, endOf(ctx)));
      const hold = (bytes: number) => unreadResponses.track(organizationId, bytes, () => ctx.res.destroy());
      const texts = holdUntilRead(textsOf(keepingOpen(ctx, readExport(pages, wanted, epoch))), hold);
      ctx.body = toStream(ctx.response.get('Content-Encoding') === 'gzip' ? gzipped(texts) : texts, pace);
      // the response begins now, even if the first match is far
      if (ctx.method !== 'HEAD') ctx.flushHeaders();
    } catch (error) {
      leave();
      throw error;
    }
  };
}

function setHeaders(ctx: Context, { format }: ExportRequest, of: string): void {
  const time = new Date(ctx.state.receivedAt).toISOString().replaceAll(/[-:]|\.\d+/g, '');
  ctx.set('Content-Disposition', `attachment; filename="${of}-${time}.${format}"`);
  ctx.set('Content-Type', mediaTypes[format]);
  ctx.vary('Accept-Encoding');
  if (ctx.acceptsEncodings('gzip', 'identity') === 'gzip') ctx.set('Content-Encoding', 'gzip');
}

/** Pages without a match are empty. */
async function* textsOf(pages: AsyncIterable<{ text: Buffer }>): AsyncGenerator<Buffer> {
  for await (const { text } of pages) yield text;
}
