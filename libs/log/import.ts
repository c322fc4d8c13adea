/** Imports records from another service or from an export, as the request arrives. */
import type { Database } from '#libs/base/db/database';
import { isUtf8Charset } from '#libs/base/http/body';
import type { AddressRule } from '#libs/base/http/client-address';
import type { Context, Middleware } from '#libs/base/http/context';
import { guard } from '#libs/base/http/guard';
import { readUpload, requireType } from '#libs/base/http/upload';
import { Problem } from '#libs/base/terms/problem';
import type { NewRecord } from '#libs/record/contract';
import { findKnownRows } from '#libs/record/known-ids';
import { labelOf } from '#libs/record/left-out';
import type { RecordMetrics } from '#libs/record/metrics';
import { createPerform } from '#libs/tenants/audited-change';
import { accessIn, organizationIn } from '#libs/tenants/bearer';
import { requireInUse, requireOwnDomain } from '#libs/tenants/requirements';
import { endOf, openAtMost, type SharedSlots, takeOrRefuse } from '#libs/tenants/shared-slots';
import {
  type Imported,
  type ImportFormat,
  importedFields,
  importFormats,
  importLimits,
  importTypes,
} from './import/contract.ts';
import { readCsv } from './import/csv.ts';
import { isReadable, Unreadable } from './import/encodings.ts';
import {
  beginImport,
  emptyCounts,
  type IdsInMemory,
  type ImportCounts,
  importRows,
  noteImport,
  TooManyRows,
} from './import/import-rows.ts';
import { readNdjson } from './import/ndjson.ts';
import { createTimeReader, type TimeReader } from './import/times.ts';
import { createImportThrottle } from './import-throttle.ts';
import { logRoutes } from './routes.ts';

interface ImportParts {
  config: { ip: AddressRule; retentionMonths: number };
  db: Database;
  recorder: {
    record(record: NewRecord, organizationId: string, bytes: number): Promise<'queued' | 'persisted'>;
  };
  slots: SharedSlots;
  metrics: Pick<RecordMetrics, 'ignoredFields'>;
}

export function importRecords({ config, db, recorder, slots, metrics }: ImportParts): Middleware {
  const throttle = createImportThrottle({ db, record: recorder.record, slots: slots.queued });
  const held: IdsInMemory = { count: 0 };
  return guard(logRoutes.importRecords, async (ctx, { params: { domainId }, query }) => {
    const { organizationId, cursorKey: key } = organizationIn(ctx);
    try {
      const own = requireOwnDomain(organizationIn(ctx), domainId);
      const { format, charset } = formatOf(ctx, query.format);
      requireInUse(own);
      const leave = await takeOrRefuse(slots.open.imports, organizationId, unfinished);
      try {
        const { dryRun: isDryRun = false, timeFormat, timeZone, encoding = charset } = query;
        const isOwn = timeFormat === undefined && timeZone === undefined;
        const times = isOwn ? undefined : createTimeReader({ format: timeFormat, zone: timeZone });
        ctx.body = await run(ctx, { organizationId, key, domainId, format, isDryRun, times, encoding });
      } finally {
        leave();
      }
    } catch (error) {
      throw toProblem(error);
    }
  });

  async function run(
    ctx: Context,
    { organizationId, key, domainId, format, isDryRun, times, encoding }: Wanted,
  ): Promise<Imported> {
    const { receivedAt: now } = ctx.state;
    const end = endOf(ctx);
    const stream = throttle.open(organizationId, domainId, end);
    const { importId, toRecord } = await beginImport(db, { domainId, key, now, times, ...config });
    const counts = emptyCounts();
    const note = async (isComplete: boolean) => {
      const perform = createPerform(db, accessIn(ctx).subject);
      if (!isDryRun) await noteImport(perform, domainId, counts, { importId, isComplete });
    };
    let isBegun = false;
    const store = (records: NewRecord[]) => {
      isBegun = true;
      return stream.store(records);
    };
    try {
      await importRows(
        {
          rows: (format === 'csv' ? readCsv : readNdjson)(readUpload(ctx, importLimits.bytes), { encoding }),
          toRecord,
          findKnown: (rows) =>
            slots.imports.run(organizationId, () => db.read((sql) => findKnownRows(sql, domainId, rows)), end),
          ...(!isDryRun && { store }),
          maxRows: importLimits.rows,
          held,
        },
        counts,
      );
      await stream.settle();
    } catch (error) {
      // some rows may be stored; if the note fails too, the error that ended the import matters more
      if (isBegun) await note(false).catch(() => {});
      throw toProblem(error, isBegun);
    }
    await note(true);
    if (!isDryRun) countLeftOut(metrics, counts);
    return { importId, ...counts };
  }
}

function countLeftOut({ ignoredFields }: ImportParts['metrics'], { fieldsIgnored = {} }: ImportCounts): void {
  for (const [field, rows] of Object.entries(fieldsIgnored))
    ignoredFields.inc({ field: labelOf(field, importedFields) }, rows);
}

const unfinished = `your organization has ${openAtMost.imports} imports that are not finished`;

interface Wanted {
  organizationId: string;
  key: Uint8Array;
  domainId: string;
  format: ImportFormat;
  isDryRun: boolean;
  times: TimeReader | undefined;
  /** one that `isReadable` */
  encoding: string | undefined;
}

/** By the query, else by the `Content-Type`, which has to agree. */
function formatOf(
  ctx: Context,
  asked: ImportFormat | undefined,
): { format: ImportFormat; charset: string | undefined } {
  const type = (ctx.req.headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase();
  const format = asked ?? importFormats.find((each) => importTypes[each] === type);
  if (!format) {
    throw new Problem('unsupported_media_type', `send Content-Type: ${Object.values(importTypes).join(' or ')}`);
  }
  const charset = requireType(ctx, importTypes[format]);
  if (charset !== undefined && !isReadable(charset)) {
    throw new Problem('unsupported_media_type', 'send the file as UTF-8');
  }
  // `us-ascii` counts as UTF-8, of which it is a subset
  return { format, charset: isUtf8Charset(charset) ? undefined : charset };
}

/** `isBegun`: rows may have been stored. */
function toProblem(error: unknown, isBegun = false): unknown {
  const stored = isBegun ? '; the rows before that have been imported' : '';
  if (error instanceof Unreadable) return new Problem('invalid_request', error.message + stored, { cause: error });
  if (error instanceof TooManyRows) return new Problem('payload_too_large', error.message + stored, { cause: error });
  if (error instanceof Error && error.name === 'AbortError') {
    return new Problem('invalid_request', 'the client left before the response', { cause: error });
  }
  return error;
}
