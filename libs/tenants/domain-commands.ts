import { Command, InvalidArgumentError } from 'commander';
import { find, print, printList, type Tools } from '#libs/base/cli/session';
import { publicAddress } from '#libs/base/config/kinds';
import { isOrigin, originRule } from '#libs/base/terms/origin';
import { domainIdPattern } from '#libs/base/terms/terms';
import { hashedPath, integrityOf, keepWidgetFiles, readWidgetFile } from '#libs/widget/files';
import { type Administration, administer, type TenantTools } from './administration.ts';
import type { Unchanged } from './audited-change.ts';
import { requireDomain, requireOrganization } from './command-subject.ts';
import { origins } from './contract.ts';
import { listAllDomains, type ManagedDomain } from './domains.ts';
import { listAllKeys } from './keys.ts';
import { type Domain, findDomains } from './tenants.ts';

/** As PUBLIC_URL. */
const address = (text: string): string => {
  if (!publicAddress.safeParse(text).success) throw new InvalidArgumentError(`must be ${publicAddress.meta()?.rule}`);
  return text;
};

/** The widget's build lies beside the command line's. */
const widgetBuild = new URL('../../apps/widget/', import.meta.url);

const domainId = (text: string): string => {
  if (!domainIdPattern.test(text)) throw new InvalidArgumentError('must have 1–64 characters of A–Z a–z 0–9 _ -');
  // Redis keeps what it knows of logs by their domains' ids, and its own under this name
  if (text === 'run_id') throw new InvalidArgumentError('is reserved');
  return text;
};

const origin = (text: string, before: string[] = []): string[] => {
  if (!isOrigin(text)) throw new InvalidArgumentError(originRule);
  const given = origins.safeParse([...before, text]);
  if (given.error) throw new InvalidArgumentError(`the origins ${given.error.issues[0]?.message}`);
  return given.data;
};

const shownOf = ({ domainId, organizationId, name, origins }: Domain) => ({ domainId, organizationId, name, origins });

const stateOf = (domain: ManagedDomain) => ({ ...shownOf(domain), archivedAt: domain.archivedAt });

/** Ready to paste, except for the key, which is shown only when it is created. */
const tagOf = (api: string, { domainId, widget, integrity }: Record<'domainId' | 'widget' | 'integrity', string>) =>
  `<script src="${api.replace(/\/$/, '')}${widget}" integrity="${integrity}" crossorigin="anonymous" data-domain="${domainId}" data-key="ak_…" defer></script>`;

async function onDomain(
  tools: TenantTools,
  domainId: string,
  change: (admin: Administration, organizationId: string) => Promise<ManagedDomain | Unchanged>,
): Promise<ManagedDomain> {
  return administer(tools, async (admin, db) => {
    const found = (await db.read((sql) => findDomains(sql, [domainId]))).get(domainId);
    const changed = found && (await change(admin, found.organizationId));
    if (typeof changed !== 'object') throw new Error(`no domain ${domainId}`);
    return changed;
  });
}

export function domainCommand(tools: Tools<{ actor: string; publicUrl: string | undefined }>): Command {
  const command = new Command('domain').description('domains: the websites whose visitors decide');
  command
    .command('create <org> <name>')
    .description('create a domain of an organization')
    .option('--id <id>', 'its id; default: generated', domainId)
    .option('--origin <url>', 'an origin that may record; repeatable; default: any origin', origin)
    .action(
      async (organizationId: string, name: string, options: { id?: string; origin?: string[] }, self: Command) => {
        const { id, origin: origins = [] } = options;
        const made = await administer(tools, (admin) =>
          admin.createDomain(organizationId, { domainId: id, name, origins }),
        );
        print(self, shownOf(made));
      },
    );
  command
    .command('set <domain>')
    .description('rename a domain, or change which origins may record')
    .option('--name <name>', 'its new name')
    .option('--origin <url>', 'an origin that may record; repeatable; replaces those so far', origin)
    .option('--no-origins', 'any origin may record')
    .action(async (id: string, options: { name?: string; origin?: string[]; origins: boolean }, self: Command) => {
      const { name, origin: given, origins } = options;
      if (given && !origins) throw new Error('give --origin or --no-origins, not both');
      const change = {
        ...(name !== undefined && { name }),
        ...(given && { origins: given }),
        ...(!origins && { origins: [] }),
      };
      if (Object.keys(change).length === 0) throw new Error('give --name, --origin or --no-origins');
      print(self, stateOf(await onDomain(tools, id, (admin, owner) => admin.changeDomain(owner, id, change))));
    });
  command
    .command('archive <domain>')
    .description('end recording and revoke the keys; what was recorded can still be read')
    .action(async (id: string, _: object, self: Command) => {
      print(self, stateOf(await onDomain(tools, id, (admin, owner) => admin.archiveDomain(owner, id))));
    });
  command
    .command('restore <domain>')
    .description('bring an archived domain back; its old keys stay revoked')
    .action(async (id: string, _: object, self: Command) => {
      const restored = onDomain(tools, id, (admin, owner) => admin.changeDomain(owner, id, { archivedAt: null }));
      print(self, stateOf(await restored));
    });
  command
    .command('list')
    .description('list domains')
    .option('--org <org>', 'only this organization')
    .action(async ({ org }: { org?: string }, self: Command) => {
      const domains = await tools.database(async (db) => {
        if (org !== undefined) await requireOrganization(db, org);
        return db.read((sql) => listAllDomains(sql, org));
      });
      printList(self, 'domains', domains);
    });
  command
    .command('show <domain>')
    .description('show a domain and the permanent path of the current widget')
    .option(
      '--api <url>',
      'where pages reach the service: also prints the script tag, without the key; default: PUBLIC_URL',
      address,
    )
    .action(async (id: string, { api = tools.config().publicUrl }: { api?: string }, self: Command) => {
      const file = readWidgetFile(widgetBuild, 'widget');
      const others = (['assent-preferences', 'texts'] as const).map((name) => readWidgetFile(widgetBuild, name));
      const domains = await tools.database((db) =>
        db.write(async (sql) => {
          // the printed path must stay valid in later releases, with all that it loads
          await keepWidgetFiles(sql, [file, ...others]);
          return listAllDomains(sql);
        }),
      );
      const domain = find(
        domains.map((each) => ({ ...each })),
        'domainId',
        id,
        'domain',
      );
      const shown = { ...domain, widget: hashedPath(file), integrity: integrityOf(file) };
      print(self, api ? { ...shown, tag: tagOf(api, shown) } : shown);
    });
  return command;
}

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
      const keys = await tools.database(async (db) => {
        if (domain !== undefined) await requireDomain(db, domain);
        return db.read((sql) => listAllKeys(sql, domain));
      });
      printList(self, 'keys', keys);
    });
  command
    .command('show <domain> <keyprefix>')
    .description('show one key')
    .action(async (domain: string, prefix: string, _: object, self: Command) => {
      const keys = await tools.database((db) => db.read((sql) => listAllKeys(sql, domain)));
      const found = keys.filter((key) => key.prefix.startsWith(prefix) || prefix.startsWith(key.prefix));
      const [key] = found;
      if (!key) throw new Error(`domain ${domain} has no key that begins with ${prefix}`);
      if (found.length > 1) throw new Error(`${found.length} keys begin with ${prefix}; give more of it`);
      print(self, { ...key });
    });
  return command;
}
