import { readFileSync } from 'node:fs';
import { Command, InvalidArgumentError } from 'commander';
import { print, printList, type Tools } from '#libs/base/cli/session';
import { wholeNumber } from '#libs/base/cli/whole-number';
import type { Database } from '#libs/base/db/database';
import { createSecretBox } from '#libs/base/secret-box';
import { type Decision, decisions } from '#libs/base/terms/terms';
import { requireOrganization } from '#libs/tenants/command-subject';
import { type Reach, readWebhookUrl } from './addresses.ts';
import { createWebhookAdministration } from './administration.ts';
import { type Headers, headersGiven, type WebhookType, webhookBody, webhookTypes } from './contract.ts';
import { formatSecret, resealSecrets } from './secret.ts';
import {
  findWebhookAnywhere,
  isToldOf,
  listDeliveries,
  listFailingWebhooks,
  listWebhooks,
  type Webhook,
} from './stored-webhooks.ts';

const mostListed = 10_000;

type WebhookTools = Tools<{
  actor: string;
  secretsKey(): Buffer;
  previousSecretsKey(): Buffer | undefined;
  webhookReach: Reach;
}>;

interface Options {
  url?: string;
  type?: WebhookType[];
  domain?: string[];
  allDomains?: boolean;
  decision?: Decision[];
  allDecisions?: boolean;
  enable?: boolean;
  disable?: boolean;
  headersFile?: string;
  maxBytes?: number;
}

const oneOf =
  <Value extends string>(values: readonly Value[]) =>
  (text: string, before: Value[] = []): Value[] => {
    const value = values.find((each) => each === text);
    if (value === undefined) throw new InvalidArgumentError(`must be one of ${values.join(', ')}`);
    return [...new Set([...before, value])];
  };
const collect = (text: string, before: string[] = []): string[] => [...new Set([...before, text])];

const describedBy = (command: Command): Command =>
  command
    .option('--type <type>', `what it is told of; repeatable: ${webhookTypes.join(', ')}`, oneOf(webhookTypes))
    .option('--domain <domain>', 'only of this domain; repeatable', collect)
    .option('--decision <decision>', `only records with it; repeatable: ${decisions.join(', ')}`, oneOf(decisions))
    .option('--headers-file <file>', 'what is sent with each message: a line NAME: VALUE each; an empty file: nothing')
    .option('--max-bytes <n>', 'bytes of a message, from 16384 to 1048576', wholeNumber(1_048_576, 16_384));

/** From a file: what stands in arguments everybody on the machine can read. */
function readHeaders({ headersFile: file }: Options): Headers | undefined {
  if (file === undefined) return undefined;
  const lines = readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '');
  const given = lines.map((line) => ({
    name: line.split(':', 1)[0] ?? '',
    value: line.slice(line.indexOf(':') + 1).trim(),
  }));
  // a line may be a secret, so only its place is told
  const wrong = lines.findIndex((line) => !line.includes(':'));
  if (wrong >= 0) throw new Error(`header ${wrong + 1} in ${file} has no colon: each line is NAME: VALUE`);
  const names = given.map(({ name }) => name.toLowerCase());
  const twice = names.find((name, at) => names.indexOf(name) < at);
  if (twice !== undefined) throw new Error(`the header ${twice} is twice in ${file}`);
  const read = headersGiven.safeParse(Object.fromEntries(given.map(({ name, value }) => [name, value])));
  if (read.success) return read.data;
  throw new Error(`a header in ${file} is not valid: ${read.error.issues[0]?.message ?? ''}`);
}

export function webhookCommand(tools: WebhookTools): Command {
  const administration = (db: Database) => createWebhookAdministration(db, tools.config().actor);
  const command = new Command('webhook').description('webhooks: receivers that are told of new entries and of limits');
  command
    .command('list')
    .description('list the webhooks of an organization, or all whose every try fails')
    .option('--org <org>', 'the organization')
    .option('--failing', 'list the failing webhooks of all organizations, those that have failed longest first')
    .action(async ({ org, failing }: { org?: string; failing?: boolean }, self: Command) => {
      if ((org === undefined) === (failing === undefined)) throw new Error('give either --org or --failing');
      const rows = await tools.database(async (db) => {
        if (org === undefined) return (await db.read((sql) => listFailingWebhooks(sql, mostListed))).map(shownFailing);
        await requireOrganization(db, org);
        return (await db.read((sql) => listWebhooks(sql, { organizationId: org, limit: mostListed }))).map(shown);
      });
      printList(self, 'webhooks', rows, failing ? 'no webhook fails' : undefined);
    });
  command
    .command('show <webhook>')
    .description('show one webhook')
    .action(async (webhookId: string, _: object, self: Command) => {
      print(self, shown(await tools.database((db) => requireWebhook(db, webhookId))));
    });
  describedBy(command.command('create <org> <url>'))
    .description(
      'make a webhook, of records.sealed and every domain unless told otherwise; its secret is shown only once',
    )
    .action(async (organizationId: string, url: string, options: Options, self: Command) => {
      const { type, domain, decision, maxBytes } = options;
      const box = createSecretBox(tools.config().secretsKey());
      const wanted = {
        url: readUrl(tools, url),
        types: type ?? (['records.sealed'] satisfies WebhookType[]),
        domains: domain ?? null,
        decisions: decision ?? null,
        headers: readHeaders(options),
        maxBytes,
      };
      const made = await tools.keyed(['SECRETS_KEY'], async (db) => {
        await requireOrganization(db, organizationId);
        await requireDomains(db, organizationId, wanted.domains);
        return administration(db).create(organizationId, wanted, box);
      });
      print(self, { ...shown(made.webhook), secret: formatSecret(made.secret) });
    });
  describedBy(command.command('set <webhook>'))
    .description('change a webhook')
    .option('--url <url>', 'where to')
    .option('--all-domains', 'of every domain, also of those to come')
    .option('--all-decisions', 'records with any decision')
    .option('--enable', 'send to it again, from where it stopped, and at once what waits for its next try')
    .option('--disable', 'send nothing to it')
    .action(async (webhookId: string, options: Options, self: Command) => {
      const { url, type, domain, allDomains, decision, allDecisions, enable, disable } = options;
      const not = (one: string, other: string) => new Error(`give either --${one} or --${other}`);
      if (enable && disable) throw not('enable', 'disable');
      if (domain && allDomains) throw not('domain', 'all-domains');
      if (decision && allDecisions) throw not('decision', 'all-decisions');
      const change = {
        url: url === undefined ? undefined : readUrl(tools, url),
        types: type,
        domains: allDomains ? null : domain,
        decisions: allDecisions ? null : decision,
        headers: readHeaders(options),
        maxBytes: options.maxBytes,
        enabled: enable ? true : disable ? false : undefined,
      };
      if (Object.values(change).every((each) => each === undefined)) throw new Error('say what to change: see --help');
      const box = change.headers && createSecretBox(tools.config().secretsKey());
      const after = await tools.keyed(box ? ['SECRETS_KEY'] : [], async (db) => {
        const { organizationId } = await requireWebhook(db, webhookId);
        await requireDomains(db, organizationId, change.domains ?? null);
        return administration(db).change(organizationId, webhookId, change, { box });
      });
      if (typeof after === 'string') throw new Error(`no webhook ${webhookId}`);
      print(self, shown(after));
    });
  command
    .command('delete <webhook>')
    .description('delete a webhook and its deliveries')
    .action(async (webhookId: string, _: object, self: Command) => {
      await tools.database(async (db) => {
        const { organizationId } = await requireWebhook(db, webhookId);
        await administration(db).remove(organizationId, webhookId);
      });
      print(self, { webhookId, deleted: true });
    });
  command
    .command('test <webhook>')
    .description('have the worker send a webhook.test; its deliveries say how it went')
    .action(async (webhookId: string, _: object, self: Command) => {
      const messageId = await tools.database(async (db) =>
        administration(db).test(await requireWebhook(db, webhookId)),
      );
      print(self, { webhookId, messageId });
    });
  command
    .command('rotate <webhook>')
    .description('make a new secret, shown only once; the one before signs beside it for 24 hours')
    .action(async (webhookId: string, _: object, self: Command) => {
      const box = createSecretBox(tools.config().secretsKey());
      const rotated = await tools.keyed(['SECRETS_KEY'], async (db) => {
        const { organizationId } = await requireWebhook(db, webhookId);
        return administration(db).rotate(organizationId, webhookId, box);
      });
      if (!rotated) throw new Error(`no webhook ${webhookId}`);
      print(self, { webhookId, secret: formatSecret(rotated.secret), previousUntil: rotated.previousUntil });
    });
  command
    .command('reseal')
    .description('encrypt the secrets of all webhooks under SECRETS_KEY; SECRETS_KEY_PREVIOUS opens those from before')
    .action(async (_: object, self: Command) => {
      const { secretsKey, previousSecretsKey, actor } = tools.config();
      const box = createSecretBox(secretsKey(), previousSecretsKey());
      print(self, { resealed: await tools.keyed(['SECRETS_KEY'], (db) => resealSecrets(db, box, actor)) });
    });
  command
    .command('replay <webhook> <domain>')
    .description("send a domain's entries again, from a position on")
    .requiredOption('--from <position>', 'the first one', wholeNumber(Number.MAX_SAFE_INTEGER, 0))
    .action(async (webhookId: string, domainId: string, { from }: { from: number }, self: Command) => {
      const found = await tools.database(async (db) => {
        const webhook = await requireWebhook(db, webhookId);
        await requireDomains(db, webhook.organizationId, [domainId]);
        if (!isToldOf(webhook, domainId))
          throw new Error(`webhook ${webhookId} is told of no records of domain ${domainId}`);
        return administration(db).replay(webhook, { domainId, from });
      });
      if (!found) throw new Error(`the log of domain ${domainId} has no position ${from}`);
      print(self, { webhookId, domainId, log: found.log, from, size: found.size });
    });
  command
    .command('deliveries <webhook>')
    .description('the newest tries of the last 30 days')
    .option('--limit <n>', `how many, up to ${mostListed}`, wholeNumber(mostListed), 50)
    .action(async (webhookId: string, { limit }: { limit: number }, self: Command) => {
      const deliveries = await tools.database(async (db) => {
        const { number } = await requireWebhook(db, webhookId);
        return db.read((sql) => listDeliveries(sql, { webhook: number, limit }));
      });
      printList(
        self,
        'deliveries',
        deliveries.map(({ number, ...delivery }) => delivery),
      );
    });
  return command;
}

const shown = ({ number, version, organizationId, ...webhook }: Webhook) => webhook;
const shownFailing = ({ webhookId, organizationId, url, failingSince, lastDeliveredAt }: Webhook) => ({
  webhookId,
  organizationId,
  url,
  failingSince,
  lastDeliveredAt,
});

function readUrl(tools: WebhookTools, text: string): string {
  const read = webhookBody.shape.url.safeParse(text).success
    ? readWebhookUrl(text, tools.config().webhookReach)
    : { refused: 'must have 1 to 2048 characters' };
  if ('refused' in read) throw new Error(`the URL ${read.refused}`);
  return read.url;
}

async function requireWebhook(db: Database, webhookId: string): Promise<Webhook> {
  const found = await db.read((sql) => findWebhookAnywhere(sql, webhookId));
  if (!found) throw new Error(`no webhook ${webhookId}`);
  return found;
}

async function requireDomains(db: Database, organizationId: string, domains: string[] | null): Promise<void> {
  for (const domainId of domains ?? []) {
    const [found] = await db.read(
      (sql) => sql`select from domains where id = ${domainId} and organization_id = ${organizationId}`,
    );
    if (!found) throw new Error(`the organization has no domain ${domainId}`);
  }
}
