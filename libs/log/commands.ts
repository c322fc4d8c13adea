import { Command } from 'commander';
import { print, printList } from '#libs/base/cli/session';
import { wholeNumber } from '#libs/base/cli/whole-number';
import type { Database } from '#libs/base/db/database';
import { type NewRecord, newRecord } from '#libs/record/contract';
import { deleteRejected, listRejected, type RejectedRecord } from '#libs/record/rejected';
import { persistInPart } from '#libs/record/store';
import { addExport, type ExportTools } from './export-command.ts';
import { type ImportTools, importCommand } from './import-command.ts';

const mostListed = 10_000;

export function recordsCommand(tools: ExportTools & ImportTools): Command {
  const command = new Command('records').description('imports and exports, and records that Postgres rejected');
  command
    .command('rejected')
    .alias('list')
    .description('the newest that Postgres rejected, with their errors; nothing is dropped')
    .option('--limit <n>', `how many, up to ${mostListed}`, wholeNumber(mostListed), 100)
    .option('--after <id>', 'continue after the one with this id, towards older ones', wholeNumber())
    .action(async ({ limit, after }: { limit: number; after?: number }, self: Command) => {
      const rows = await tools.database((db) => db.read((sql) => listRejected(sql, { limit, after })));
      printList(
        self,
        'rejected',
        rows.map((row) => ({ ...row })),
        after === undefined ? 'no rejected records' : `no rejected records older than ${after}`,
      );
      const last = rows.at(-1);
      if (last && rows.length === limit) process.stderr.write(`older ones, if any: --after ${last.id}\n`);
    });
  command.addCommand(importCommand(tools));
  command
    .command('replay')
    .description('retry all that were rejected; those that are stored leave the list')
    .action(async (_: object, self: Command) => {
      const result = await tools.database((db) => replay(db));
      if (result.replayed > 0 && result.stored === 0) process.exitCode = 1;
      print(self, result);
    });
  addExport(command, tools);
  return command;
}

/** `atOnce` from the newest: those that are rejected meanwhile are newer, so there is an end. */
export async function replay(
  db: Database,
  atOnce = 500,
): Promise<{ replayed: number; stored: number; rejected: number }> {
  const result = { replayed: 0, stored: 0, rejected: 0 };
  let after: number | undefined;
  for (;;) {
    const page = await db.read((sql) => listRejected(sql, { limit: atOnce, after }));
    if (page.length === 0) return result;
    const stored = await replayPage(db, page);
    result.replayed += page.length;
    result.stored += stored;
    result.rejected += page.length - stored;
    after = page.at(-1)?.id;
  }
}

async function replayPage(db: Database, page: RejectedRecord[]): Promise<number> {
  const ids = new Map<NewRecord, number>();
  for (const row of page) {
    const record = newRecord.safeParse(JSON.parse(row.record));
    if (record.success) ids.set(record.data, row.id);
  }
  const { rejections } = await persistInPart(db, [...ids.keys()], { owe: true });
  for (const { record } of rejections) ids.delete(record);
  if (ids.size > 0) await db.write((sql) => deleteRejected(sql, [...ids.values()]));
  return ids.size;
}
