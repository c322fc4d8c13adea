/** `records export`: reads the database directly, and writes what the API's endpoint sends. */
import { existsSync } from 'node:fs';
import { open, truncate } from 'node:fs/promises';
import { type Command, Option } from 'commander';
import type { z } from 'zod';
import { isGzip, packedFor } from '#libs/base/cli/gzipped';
import { createProgress } from '#libs/base/cli/progress';
import { print, type Tools } from '#libs/base/cli/session';
import type { Database } from '#libs/base/db/database';
import { exportFormats } from '#libs/base/terms/terms';
import { requireSubject } from '#libs/tenants/command-subject';
import { listAllDomains } from '#libs/tenants/domains';
import { createVisitorHash } from '#libs/tenants/visitors';
import { exportQuery, organizationExportQuery } from './contract.ts';
import { readCutFile } from './export/cut-file.ts';
import { listSpans } from './export/domain-records.ts';
import { type ExportRequest, noteExport, readExport, readOpenEpoch } from './exported-lines.ts';

export type ExportTools = Tools<{ actor: string; privacyKey(): Buffer }>;

interface Options {
  org?: string;
  domain?: string;
  out?: string;
  format?: string;
  from?: string;
  to?: string;
  decision?: string;
  visitor?: string;
  bot?: string;
  after?: string;
  continue?: boolean;
}

export function addExport(records: Command, tools: ExportTools): void {
  records
    .command('export')
    .description('all records that match, oldest first, as NDJSON or CSV')
    .option('--domain <domain>', 'of this domain')
    .option('--org <org>', 'of all domains of this organization, one after the other')
    .addOption(new Option('--format <format>', 'default ndjson').choices(exportFormats))
    .option(
      '--out <file>',
      'write to this new file, gzipped if it is called .gz; with --after, add to it; default: standard output',
    )
    .option('--from <day>', 'first UTC day')
    .option('--to <day>', 'last UTC day')
    .option('--decision <decision>', 'only these decisions')
    .option('--visitor <visitor>', 'only of this visitor')
    .addOption(new Option('--bot <flag>', 'only what crawlers sent, or nothing of it').choices(['true', 'false']))
    .option('--after <record>', 'go on after this record: its id, with --org DOMAIN/ID')
    .option('--continue', 'go on in the file of --out after its last whole record, if there is such a file')
    .action(async (options: Options, self: Command) => {
      const { out, after, continue: isContinued = false } = options;
      if (isContinued && (out === undefined || after !== undefined))
        throw new Error('--continue needs --out, and cannot be combined with --after');
      if (isContinued && out !== undefined && isGzip(out))
        throw new Error('--continue cannot look into a .gz file; use --after, or start again');
      if (out !== undefined && after === undefined && !isContinued && existsSync(out)) throw new Error(`${out} exists`);
      const result = await tools.keyed(options.visitor === undefined ? [] : ['PRIVACY_KEY'], async (db) => {
        const given = await wantedOf(db, options);
        const begun =
          isContinued && out !== undefined && existsSync(out) ? await continueFile(out, given) : begin(given);
        if (!begun) return { records: 0, last: null };
        const { actor, privacyKey } = tools.config();
        const hashOf = options.visitor === undefined ? undefined : createVisitorHash(privacyKey());
        await noteExport(db, begun.wanted, { actor, domainId: options.domain, hashOf });
        /** as `--after` takes it */
        const nameOf = ({ domainId, id }: Place) => (options.domain === undefined ? `${domainId}/${id}` : id);
        if (out === undefined) return write(db, begun, nameOf, toStandardOutput);
        const file = await open(out, 'a', 0o600);
        try {
          return await write(db, begun, nameOf, async (text) => {
            if (text.length > 0) await file.writeFile(await packedFor(out, text));
          });
        } finally {
          await file.close();
        }
      });
      if (out !== undefined) print(self, result);
    });
}

type Place = NonNullable<ExportRequest['after']>;

interface Begun {
  wanted: ExportRequest;
  /** whether it is still to be written */
  header: boolean;
  /** records that the file already has */
  before: number;
}

const begin = (wanted: ExportRequest): Begun => ({ wanted, header: wanted.after === undefined, before: 0 });

/** Cuts an incomplete row off the end of the file. Undefined if the export is complete. */
async function continueFile(file: string, wanted: ExportRequest): Promise<Begun | undefined> {
  const { whole, records, last, isComplete } = await readCutFile(file, wanted.format);
  if (isComplete) return undefined;
  if (last && !wanted.domainIds.includes(last.domainId)) throw new Error(`${file} is an export of other domains`);
  await truncate(file, whole);
  return { wanted: { ...wanted, after: last ?? undefined }, header: whole === 0, before: records };
}

/** Checks the options by the endpoints' rules. */
async function wantedOf(
  db: Database,
  { org, domain, out: _, continue: __, visitor, ...given }: Options,
): Promise<ExportRequest> {
  const { organizationId } = await requireSubject(db, { org, domain });
  const query = { ...given, ...(visitor !== undefined && { visitorId: visitor }) };
  if (domain !== undefined) {
    const { after: id, format = 'ndjson', ...filters } = check(exportQuery.safeParse(query));
    const after = id === undefined ? undefined : { domainId: domain, id };
    return { organizationId, domainIds: [domain], format, after, ...filters };
  }
  const domains = await db.read((sql) => listAllDomains(sql, organizationId));
  const { format = 'ndjson', ...rest } = check(organizationExportQuery.safeParse(query));
  return { organizationId, domainIds: domains.map(({ domainId }) => domainId).toSorted(), format, ...rest };
}

function check<T>(read: z.ZodSafeParseResult<T>): T {
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  const name = String(issue?.path[0] ?? 'query').replace('visitorId', 'visitor');
  throw new Error(`--${name}: ${issue?.message}`);
}

/** Resolves once it is written. The process exits on a failure (`main.ts`). */
const toStandardOutput = (text: Buffer): Promise<void> =>
  new Promise((resolve) => process.stdout.write(text, (error) => !error && resolve()));

/** Writes the export. If it is interrupted, it prints how to continue. */
async function write(
  db: Database,
  { wanted, header, before }: Begun,
  nameOf: (place: Place) => string,
  append: (text: Buffer) => Promise<void>,
) {
  const epoch = await readOpenEpoch(db);
  const progress = createProgress(await countAll(db, wanted), 'records');
  const result: { records: number; last: string | null } = { records: 0, last: null };
  const interrupted = () => {
    progress.end();
    if (result.last !== null) process.stderr.write(`continue with: --after ${result.last}\n`);
  };
  const stop = () => {
    interrupted();
    process.exit(130);
  };
  process.once('SIGINT', stop);
  try {
    for await (const part of readExport(db, wanted, epoch, { header, before })) {
      // an export continues after the last record that was written
      await append(part.text);
      result.records += part.count;
      if (part.last) result.last = nameOf(part.last);
      progress.show(result.records);
    }
    progress.end();
    return result;
  } catch (error) {
    interrupted();
    throw error;
  } finally {
    process.off('SIGINT', stop);
  }
}

/** 0 if the number is not known: counting a visitor's records would take long. */
async function countAll(db: Database, wanted: ExportRequest): Promise<number> {
  if (wanted.visitorId !== undefined || wanted.after) return 0;
  let total = 0;
  for (const domainId of wanted.domainIds) {
    for (const { count } of await db.read((sql) => listSpans(sql, { ...wanted, domainId }))) total += count;
  }
  return total;
}
