import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Command } from 'commander';
import { z } from 'zod';
import { isGzip, isPackedFile, unpackedOf } from '#libs/base/cli/gzipped';
import { createProgress } from '#libs/base/cli/progress';
import { isJson, print, type Tools } from '#libs/base/cli/session';
import { addAction, flags, text, toggle } from '#libs/base/cli/verb';
import type { Database } from '#libs/base/db/database';
import type { AddressRule } from '#libs/base/http/client-address';
import type { NewRecord } from '#libs/record/contract';
import { findKnownRows } from '#libs/record/known-ids';
import { persistOrReject } from '#libs/record/store';
import { createPerform } from '#libs/tenants/audited-change';
import { listAllDomains } from '#libs/tenants/domains';
import { findOrganizations } from '#libs/tenants/tenants';
import { createFieldsOf } from './import/columns.ts';
import { type ImportFormat, importFormats } from './import/contract.ts';
import { readCsv } from './import/csv.ts';
import { isReadable, Unreadable } from './import/encodings.ts';
import { beginImport, emptyCounts, importRows, noteImport } from './import/import-rows.ts';
import { readNdjson } from './import/ndjson.ts';
import { type Preset, presetNames, readColumns, readPreset } from './import/presets.ts';
import { writeRefused } from './import/refused-rows.ts';
import type { Rows } from './import/rows.ts';
import { formatProblem, isTimeZone } from './import/time-rules.ts';
import type { TimeReader } from './import/times.ts';

interface ImportConfig {
  actor: string;
  addressRule(): AddressRule;
  retentionMonths: number;
}

export type ImportTools = Tools<ImportConfig>;

const repeated = (description: string, value: string) => z.array(z.string()).default([]).meta({ description, value });

const importFlags = flags(
  z.object({
    domain: z.string().describe('the domain that the records belong to'),
    format: text('ndjson or csv; default: by the name of the file'),
    dryRun: toggle('only check and count'),
    refused: text('write the rows that were refused to this file, as CSV', 'file'),
    delimiter: text('between the cells of a CSV; default: a comma', 'character'),
    preset: text(
      `how another service writes its files: ${presetNames.join(', ')} (not tried with real files), or a JSON file`,
      'name',
    ),
    map: repeated('the column of a CSV that holds this field; may be repeated', 'field=column'),
    mapValue: repeated('what a value of theirs means; may be repeated', 'field:theirs=ours'),
    timeFormat: text('of times, such as "dd/MM/yyyy HH:mm", unix or unix-ms; default: RFC 3339', 'format'),
    timeZone: text('the time zone of times without one, such as Europe/Berlin; default: UTC', 'zone'),
    encoding: text('of the file, such as utf-16 or latin1; a byte order mark overrides it; default: utf-8', 'name'),
  }),
);
type Options = z.output<typeof importFlags.of>;

export function importCommand(tools: ImportTools): Command {
  const command = new Command('import')
    .argument('<file>', 'NDJSON or CSV, of any length, also gzipped')
    .description('import records from elsewhere, or from an export; run again, it goes on and adds nothing twice');
  return addAction(command, importFlags, async (options, file) => {
    const { counts, importId } = await tools.keyed(['IP_HASH_KEY'], (db) => run(tools.config(), db, file, options));
    const { errors, ...numbers } = counts;
    if (counts.read > 0 && counts.rejected === counts.read) process.exitCode = 1;
    return (self) => {
      if (isJson(self)) return print(self, { importId, ...counts });
      print(self, options.dryRun ? { dryRun: true, ...numbers } : { importId, ...numbers });
      for (const { row, code, detail } of errors.slice(0, 10)) {
        process.stderr.write(`row ${row}: ${code}: ${detail.replaceAll(/[\r\n]/g, ' ')}\n`);
      }
      const more = counts.rejected - Math.min(10, errors.length);
      if (more > 0) {
        const where = options.refused === undefined ? '--refused FILE lists them all' : `all are in ${options.refused}`;
        process.stderr.write(`${more} more; ${where}\n`);
      }
    };
  });
}

async function run(config: ImportConfig, db: Database, file: string, options: Options) {
  const { domain: domainId, dryRun: isDryRun = false } = options;
  checkOptions(options);
  const form = await formOf(options);
  if (options.refused !== undefined && isGzip(options.refused))
    throw new Error('--refused writes plain text: give it a name without .gz');
  if (options.refused !== undefined && (await isSameFile(file, options.refused)))
    throw new Error('--refused would write over the file that is imported: give it another name');
  const [domain] = await db.read((sql) => listAllDomains(sql, undefined, domainId));
  if (!domain) throw new Error(`no domain ${domainId}`);
  if (domain.archivedAt) throw new Error(`domain ${domainId} is archived; restore it first`);
  const key = (await db.read((sql) => findOrganizations(sql, [domain.organizationId]))).get(
    domain.organizationId,
  )?.cursorKey;
  if (!key) throw new Error(`no organization ${domain.organizationId}`);
  const { retentionMonths } = config;
  const { importId, toRecord } = await beginImport(db, {
    domainId,
    key,
    now: Date.now(),
    ip: config.addressRule(),
    retentionMonths,
    times: await timesOf(form, isMapped(form, options)),
  });
  const { size } = await stat(file);
  const isPacked = await isPackedFile(file);
  const progress = createProgress(size, 'bytes');
  const refused = options.refused === undefined ? undefined : writeRefused(options.refused);
  const counts = emptyCounts();
  const note = (isComplete: boolean) =>
    noteImport(createPerform(db, config.actor), domainId, counts, { importId, isComplete });
  let isBegun = false;
  // writes directly to Postgres, one statement at a time; the worker updates the counters
  const store = async (records: NewRecord[]) => {
    isBegun = true;
    await persistOrReject(db, records, { owe: true });
  };
  // rows of an interrupted import may be stored
  const noteCutOff = async () => {
    if (isBegun) await note(false).catch(() => {});
  };
  const stop = async () => {
    progress.end();
    await noteCutOff();
    process.stderr.write(`stopped after ${counts.queued} new rows; the same command goes on\n`);
    process.exit(130);
  };
  process.once('SIGINT', stop);
  let length = 0;
  const read = counted(createReadStream(file), (more) => {
    length += more;
  });
  try {
    await importRows(
      {
        rows: rowsOf(isPacked ? unpackedOf(read) : read, formatOf(file, options), form, options),
        toRecord,
        findKnown: (rows) => db.read((sql) => findKnownRows(sql, domainId, rows)),
        ...(!isDryRun && { store }),
        ...(refused && { onRefused: ({ row, text }, refusal) => refused.add(row, refusal, text) }),
        progress: () =>
          progress.show(length, `${counts.queued} new, ${counts.known} known, ${counts.rejected} refused`),
        held: { count: 0 },
      },
      counts,
    );
  } catch (error) {
    await noteCutOff();
    if (isBegun && error instanceof Unreadable)
      throw new Error(`${error.message}; ${counts.queued} new rows before that have been imported`, { cause: error });
    throw error;
  } finally {
    process.off('SIGINT', stop);
    progress.end();
    await refused?.close();
  }
  if (!isDryRun) await note(true);
  return { counts, importId };
}

async function isSameFile(one: string, other: string): Promise<boolean> {
  const [{ dev, ino }, there] = await Promise.all([stat(one), stat(other).catch(() => undefined)]);
  return there?.ino === ino && there.dev === dev;
}

/** The form of the file: the preset's, overridden by options. */
async function formOf({ preset, delimiter, timeFormat, timeZone, encoding }: Options): Promise<Preset> {
  const known: Preset = preset === undefined ? { columns: {}, values: {} } : await readPreset(preset);
  return {
    ...known,
    delimiter: delimiter ?? known.delimiter,
    timeFormat: timeFormat ?? known.timeFormat,
    timeZone: timeZone ?? known.timeZone,
    encoding: encoding ?? known.encoding,
  };
}

/**
 * Undefined if times are RFC 3339. With mapped columns, ISO 8601 without a zone is read too, since such files often have
 * it. Luxon is loaded only when needed, because that takes a while.
 */
async function timesOf(form: Preset, isForeign: boolean): Promise<TimeReader | undefined> {
  const { timeFormat: format, timeZone: zone } = form;
  if (format === undefined && zone === undefined && !isForeign) return undefined;
  return (await import('./import/times.ts')).createTimeReader({ format, zone });
}

/** Throws an error that names the wrong option. */
function checkOptions({ timeFormat, timeZone, encoding }: Options): void {
  const problem = timeFormat === undefined ? undefined : formatProblem(timeFormat);
  if (problem !== undefined)
    throw new Error(`--time-format is unix, unix-ms, or a format such as "dd/MM/yyyy HH:mm"; ${problem}`);
  if (timeZone !== undefined && !isTimeZone(timeZone))
    throw new Error('--time-zone is the name of a time zone, such as Europe/Berlin');
  if (encoding !== undefined && !isReadable(encoding))
    throw new Error('--encoding is one such as utf-8, utf-16 or latin1');
}

function formatOf(file: string, { format }: Options): ImportFormat {
  const name = format ?? (/\.(ndjson|jsonl)(\.gz)?$/i.test(file) ? 'ndjson' : /\.csv(\.gz)?$/i.test(file) ? 'csv' : '');
  const found = importFormats.find((each) => each === name);
  if (!found) throw new Error(`give --format ${importFormats.join(' or ')}`);
  return found;
}

const hasColumns = ({ columns, values }: Preset): boolean =>
  Object.keys(columns).length + Object.keys(values).length > 0;

const isMapped = (form: Preset, { map, mapValue }: Options): boolean =>
  hasColumns(form) || map.length + mapValue.length > 0;

function rowsOf(bytes: AsyncIterable<Buffer>, format: ImportFormat, form: Preset, options: Options): Rows {
  const { delimiter = ',', encoding } = form;
  const columns = readColumns(form, options.map, options.mapValue);
  if (format === 'ndjson') {
    if (options.delimiter !== undefined) throw new Error('--delimiter is for CSV');
    if (options.map.length + options.mapValue.length > 0) throw new Error('--map and --map-value are for CSV');
    if (hasColumns(form)) throw new Error(`--preset ${options.preset} has columns or values, which are for CSV`);
    return readNdjson(bytes, { encoding });
  }
  if (delimiter.length !== 1) throw new Error('--delimiter is one character');
  return readCsv(bytes, { delimiter, encoding, ...(isMapped(form, options) && { fieldsOf: createFieldsOf(columns) }) });
}

/** Passes the chunks on, and counts their bytes. */
async function* counted(bytes: AsyncIterable<Buffer>, count: (length: number) => void): AsyncGenerator<Buffer> {
  for await (const chunk of bytes) {
    count(chunk.length);
    yield chunk;
  }
}
