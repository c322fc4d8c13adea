import { Command } from 'commander';
import { print, printList } from '#libs/base/cli/session';
import { administer, type TenantTools } from './administer.ts';
import { directory } from './directory.ts';

export function keyCommand(tools: TenantTools): Command {
  const command = new Command('key').description('API keys: write-only, one domain each; several may be active');
  command
    .command('create <domain>')
    .description('create a key; it is shown only once')
    .action(async (domainId: string, _: object, self: Command) => {
      const { apiKey } = await administer(tools, (admin) => admin.createKey(domainId));
      print(self, { domainId, apiKey });
    });
  command
    .command('revoke <domain> <keyprefix>')
    .description('revoke the active key that begins with the prefix; it stops working within a second')
    .action(async (domainId: string, keyPrefix: string, _: object, self: Command) => {
      print(self, await administer(tools, (admin) => admin.revokeKey(domainId, keyPrefix)));
    });
  command
    .command('list')
    .description('list keys')
    .option('--domain <domain>', 'only this domain')
    .action(async ({ domain }: { domain?: string }, self: Command) => {
      printList(self, 'keys', await tools.database((db) => db.run((sql) => directory.keys(sql, domain))));
    });
  command
    .command('show <domain> <keyprefix>')
    .description('show one key')
    .action(async (domain: string, prefix: string, _: object, self: Command) => {
      const keys = await tools.database((db) => db.run((sql) => directory.keys(sql, domain)));
      const found = keys.filter((key) => key.prefix.startsWith(prefix) || prefix.startsWith(key.prefix));
      const [key] = found;
      if (!key) throw new Error(`domain ${domain} has no key that begins with ${prefix}`);
      if (found.length > 1) throw new Error(`${found.length} keys begin with ${prefix}; give more of it`);
      print(self, { ...key });
    });
  return command;
}
