import { Command } from 'commander';
import { newRecord } from '#libs/contract/record';
import { persistOrReject } from '#libs/store/records/persist-or-reject';
import { deleteRejected, listRejected } from '#libs/store/records/rejected';
import { print, printList, withDatabase } from './session.ts';

const listed = 100;

export function recordsCommand(): Command {
  const command = new Command('records').description('records that Postgres refused; nothing is dropped');
  command
    .command('rejected')
    .alias('list')
    .description(`the newest ${listed} with their errors`)
    .action(async (_: object, self: Command) => {
      const rows = await withDatabase((db) => db.run((sql) => listRejected(sql, listed)));
      printList(
        self,
        'rejected',
        rows.map((row) => ({ ...row })),
      );
    });
  command
    .command('replay')
    .description('retry all of them; those that are stored leave the list')
    .action(async (_: object, self: Command) => {
      print(
        self,
        await withDatabase(async (db) => {
          const rows = await db.run((sql) => listRejected(sql, null));
          let stored = 0;
          for (const row of rows) {
            const record = newRecord.safeParse(JSON.parse(row.record));
            if (!record.success) continue;
            const { rejected } = await persistOrReject(db, [record.data], { owe: true });
            if (rejected > 0) continue;
            await db.run((sql) => deleteRejected(sql, row.id));
            stored += 1;
          }
          return { replayed: rows.length, stored, rejected: rows.length - stored };
        }),
      );
    });
  return command;
}
