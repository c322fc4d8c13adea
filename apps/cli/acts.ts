import { Command } from 'commander';
import { directory } from '#libs/store/tenants/administration';
import { printList, withDatabase } from './session.ts';

const listed = 100;

export function actsCommand(): Command {
  return new Command('acts')
    .description(`the newest ${listed} administrative acts: who changed what and when`)
    .action(async (_: object, self: Command) => {
      const rows = await withDatabase((db) => db.run((sql) => directory.acts(sql, listed)));
      printList(
        self,
        'acts',
        rows.map((row) => ({ ...row })),
      );
    });
}
