import { Command } from 'commander';
import { printList, type Tools } from '#libs/base/cli/session';
import { listActs } from './acts.ts';

const listed = 100;

export function actsCommand(tools: Tools): Command {
  return new Command('acts')
    .description(`the newest ${listed} administrative acts: who changed what and when`)
    .action(async (_: object, self: Command) => {
      const { acts } = await tools.database((db) => db.run((sql) => listActs(sql, { limit: listed })));
      printList(
        self,
        'acts',
        acts.map(({ id: _, ...act }) => act),
      );
    });
}
