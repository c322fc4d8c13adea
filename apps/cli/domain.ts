import { Command, InvalidArgumentError } from 'commander';
import { domainIdPattern } from '#libs/contract/terms';
import { hashedPath, integrityOf, readWidgetFile } from '#libs/contract/widget-files';
import { directory } from '#libs/store/tenants/administration';
import { keepWidgetFiles } from '#libs/store/widget-files';
import { find, print, printList, withDatabase } from './session.ts';

/** The widget's build lies beside the command line's. */
const widgetBuild = new URL('../widget/', import.meta.url);

const domainId = (text: string): string => {
  if (!domainIdPattern.test(text)) throw new InvalidArgumentError('1–64 of A–Z a–z 0–9 _ -');
  return text;
};

/** `https://*.com` would match nearly every site. */
const isWholeSuffix = (text: string): boolean => text.includes('*') && !/\*(\.[^.:]+){2,}(:\d+)?$/.test(text);

/** An origin as browsers send it, or with `*.` for any subdomain. */
const origin = (text: string, before: string[] = []): string[] => {
  const plain = text.replace('://*.', '://wildcard.');
  if (!URL.canParse(plain) || new URL(plain).origin !== plain || !/^https?:[^*]+$/.test(plain) || isWholeSuffix(text)) {
    throw new InvalidArgumentError(
      'an origin as browsers send it (lower case, no path, no default port), such as https://www.example.com or https://*.example.com',
    );
  }
  return [...before, text];
};

/** Ready to paste, except for the key, which is shown only when it is created. */
const tagOf = (api: string, { domainId, widget, integrity }: Record<'domainId' | 'widget' | 'integrity', string>) =>
  `<script src="${api.replace(/\/$/, '')}${widget}" integrity="${integrity}" crossorigin="anonymous" data-domain="${domainId}" data-key="ak_…" defer></script>`;

export function domainCommand(): Command {
  const command = new Command('domain').description('domains: the websites whose visitors decide');
  command
    .command('create <org> <name>')
    .description('create a domain of an organization')
    .option('--id <id>', 'its id; default: generated', domainId)
    .option('--origin <url>', 'an origin that may record; repeatable; default: any origin', origin)
    .action(
      async (organizationId: string, name: string, options: { id?: string; origin?: string[] }, self: Command) => {
        const { id, origin: origins = [] } = options;
        const made = await withDatabase((_, admin) =>
          admin.createDomain(organizationId, { domainId: id, name, origins }),
        );
        print(self, { ...made });
      },
    );
  command
    .command('list')
    .description('list domains')
    .option('--org <org>', 'only this organization')
    .action(async ({ org }: { org?: string }, self: Command) => {
      printList(self, 'domains', await withDatabase((db) => db.run((sql) => directory.domains(sql, org))));
    });
  command
    .command('show <domain>')
    .description('show a domain and the permanent path of the current widget')
    .option('--api <url>', 'the public URL of the API: also prints the script tag, without the key')
    .action(async (id: string, { api }: { api?: string }, self: Command) => {
      const file = readWidgetFile(widgetBuild, 'widget');
      const domains = await withDatabase((db) =>
        db.run(async (sql) => {
          // the printed path must stay valid in later releases
          await keepWidgetFiles(sql, [file]);
          return directory.domains(sql);
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
