import { Command } from 'commander';
import { z } from 'zod';
import { listed } from '#libs/base/cli/session';
import { flags, limited, none, verbsOf } from '#libs/base/cli/verb';
import type { Database } from '#libs/base/db/database';
import { type NewRecord, newRecord } from '#libs/record/contract';
import { deleteRejected, listRejected, type RejectedRecord } from '#libs/record/rejected';
import { storeInPart } from '#libs/record/store';
import { addExport, type ExportTools } from './export-command.ts';
import { type ImportTools, importCommand } from './import-command.ts';

const pageFlags = flags(limited(100).extend({ after: z.int().min(1).optional() }), {
  after: ['--after <id>', 'continue after the one with this id, towards older ones'],
});

export function recordsCommand(tools: ExportTools & ImportTools): Command {
  const noun = new Command('records').description('imports and exports, and records that Postgres rejected');
  const verb = verbsOf(noun);

  verb('rejected', pageFlags, async ({ limit, after }) => {
    const rows = await tools.database((db) => db.read((sql) => listRejected(sql, { limit, after })));
    return async (self) => {
      await listed(
        'rejected',
        rows,
        after === undefined ? 'no rejected records' : `no rejected records older than ${after}`,
      )(self);
      const last = rows.at(-1);
      if (last && rows.length === limit) process.stderr.write(`older ones, if any: --after ${last.id}\n`);
    };
  })
    .alias('list')
    .description('the newest that Postgres rejected, with their errors; nothing is dropped');
  noun.addCommand(importCommand(tools));

  verb('replay', none, async () => {
    const result = await tools.database((db) => replay(db));
    if (result.replayed > 0 && result.stored === 0) process.exitCode = 1;
    return result;
  }).description('retry all that were rejected; those that are stored leave the list');
  addExport(noun, tools);
  return noun;
}

/** `atOnce` at a time, from the newest: records that are rejected meanwhile are newer, so this ends. */
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
  const { rejections, errors } = await storeInPart(db, [...ids.keys()], { owe: true });
  if (errors.length > 0) throw errors[0];
  for (const { record } of rejections) ids.delete(record);
  if (ids.size > 0) await db.write((sql) => deleteRejected(sql, [...ids.values()]));
  return ids.size;
}
