import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { z } from 'zod';
import { listed, type Tools } from '#libs/base/cli/session';
import { flags, limited, type NamedFlag, none, text, toggle, verbsOf } from '#libs/base/cli/verb';
import type { Database } from '#libs/base/db/database';
import { createSecretBox } from '#libs/base/secret-box';
import { decisions } from '#libs/base/terms/terms';
import { requireOrganization } from '#libs/tenants/command-subject';
import { type AddressPolicy, readWebhookUrl } from './addresses.ts';
import { createWebhookAdministration } from './administration.ts';
import {
  type Headers,
  headersGiven,
  replayBody,
  type WebhookBody,
  type WebhookChange,
  type WebhookType,
  webhookBody,
  webhookChange,
  webhookTypes,
} from './contract.ts';
import { formatSecret, resealSecrets } from './secret.ts';
import {
  findWebhookAnywhere,
  listDeliveries,
  listFailingWebhooks,
  listWebhooks,
  receivesRecordsOf,
  type Webhook,
} from './stored-webhooks.ts';

const mostListed = 10_000;
const usualTypes: WebhookType[] = ['records.sealed'];

type WebhookTools = Tools<{
  actor: string;
  secretsKey(): Buffer;
  previousSecretsKey(): Buffer | undefined;
  webhookReach: AddressPolicy;
}>;

const distinct = (text: string, before: unknown) => [...new Set([...(Array.isArray(before) ? before : []), text])];

/** Flags of both `create` and `set`. Fields of the contract that are not listed here become flags by themselves. */
const sharedFlags = {
  types: ['--type <type>', `the events it gets; repeatable: ${webhookTypes.join(', ')}`, distinct],
  domains: ['--domain <domain>', 'only of this domain; repeatable', distinct],
  decisions: ['--decision <decision>', `only records with it; repeatable: ${decisions.join(', ')}`, distinct],
  headers: [
    '--headers-file <file>',
    'what is sent with each message: a line NAME: VALUE each; an empty file: nothing',
    readHeaders,
  ],
  maxBytes: ['--max-bytes <n>', 'bytes of a message, from 16384 to 1048576'],
} satisfies Record<string, NamedFlag>;

/** From a file, because everybody on the machine can read the arguments of a process. */
function readHeaders(file: string): Headers {
  const lines = readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '');
  const given = lines.map((line) => ({
    name: line.split(':', 1)[0] ?? '',
    value: line.slice(line.indexOf(':') + 1).trim(),
  }));
  // the line itself may be a secret
  const wrong = lines.findIndex((line) => !line.includes(':'));
  if (wrong >= 0) throw new Error(`header ${wrong + 1} in ${file} has no colon: each line is NAME: VALUE`);
  const names = given.map(({ name }) => name.toLowerCase());
  const twice = names.find((name, at) => names.indexOf(name) < at);
  if (twice !== undefined) throw new Error(`the header ${twice} is twice in ${file}`);
  const read = headersGiven.safeParse(Object.fromEntries(given.map(({ name, value }) => [name, value])));
  if (read.success) return read.data;
  throw new Error(`a header in ${file} is not valid: ${read.error.issues[0]?.message ?? ''}`);
}

const listFlags = flags(
  z.object({
    org: text('the organization'),
    failing: toggle('list the failing webhooks of all organizations, those that have failed longest first'),
  }),
);
const createFlags = flags(webhookBody.omit({ url: true }).partial({ types: true }), sharedFlags);
const replayFlags = flags(replayBody.pick({ from: true }), { from: ['--from <position>', 'the first one'] });

export function webhookCommand(tools: WebhookTools): Command {
  const noun = new Command('webhook').description('webhooks: receivers of new entries and other events');
  const verb = verbsOf(noun);
  const urlOf = (url: string) => readUrl(tools, url);
  const setFlags = flags(
    webhookChange,
    { ...sharedFlags, url: ['--url <url>', 'where to', urlOf] },
    {
      '--all-domains': ['of every domain, also of those to come', { domains: null }],
      '--all-decisions': ['records with any decision', { decisions: null }],
      '--enable': ['send to it again, from where it stopped; waiting messages go out at once', { enabled: true }],
      '--disable': ['send nothing to it', { enabled: false }],
    },
  );

  verb('list', listFlags, (given) => list(tools, given)).description(
    'list the webhooks of an organization, or the failing webhooks of all organizations',
  );
  verb('show <webhook>', none, (_, webhookId) =>
    onWebhook(tools, webhookId, async ({ webhook }) => shown(webhook)),
  ).description('show one webhook');
  verb('create <org> <url>', createFlags, ({ types = usualTypes, ...given }, org, url) =>
    create(tools, org, { types, url: urlOf(url), ...given }),
  ).description(
    'make a webhook, of records.sealed and every domain unless told otherwise; its secret is shown only once',
  );
  verb('set <webhook>', setFlags, (change, webhookId) => set(tools, webhookId, change)).description('change a webhook');
  verb('delete <webhook>', none, async (_, webhookId) => {
    await onWebhook(tools, webhookId, ({ webhook, admin }) => admin.remove(webhook.organizationId, webhookId));
    return { webhookId, deleted: true };
  }).description('delete a webhook and its deliveries');
  verb('test <webhook>', none, async (_, webhookId) => ({
    webhookId,
    messageId: await onWebhook(tools, webhookId, ({ webhook, admin }) => admin.test(webhook)),
  })).description('have the worker send a webhook.test; its deliveries say how it went');
  verb('retry <webhook>', none, async (_, webhookId) => ({
    webhookId,
    messages: await onWebhook(tools, webhookId, ({ webhook, admin }) => admin.retry(webhook)),
  })).description('send at once the messages that wait for their next try');
  verb('rotate <webhook>', none, (_, webhookId) => rotate(tools, webhookId)).description(
    'make a new secret, shown only once; for 24 hours, messages are also signed with the previous one',
  );
  verb('reseal', none, () => reseal(tools)).description(
    'encrypt the secrets of all webhooks under SECRETS_KEY; SECRETS_KEY_PREVIOUS decrypts those under the previous key',
  );
  verb('replay <webhook> <domain>', replayFlags, ({ from }, webhookId, domainId) =>
    replay(tools, webhookId, { domainId, from }),
  ).description("send a domain's entries again, from a position on");
  verb('deliveries <webhook>', flags(limited(50)), ({ limit }, webhookId) =>
    deliveries(tools, webhookId, limit),
  ).description('the newest tries of the last 30 days');
  return noun;
}

async function list(tools: WebhookTools, { org, failing }: z.output<typeof listFlags.of>) {
  if ((org === undefined) === (failing === undefined)) throw new Error('give either --org or --failing');
  const rows = await tools.database(async (db) => {
    if (org === undefined) return (await db.read((sql) => listFailingWebhooks(sql, mostListed))).map(shownFailing);
    await requireOrganization(db, org);
    return (await db.read((sql) => listWebhooks(sql, { organizationId: org, limit: mostListed }))).map(shown);
  });
  return listed('webhooks', rows, failing ? 'no webhook fails' : undefined);
}

async function create(tools: WebhookTools, org: string, { domains = null, decisions = null, ...given }: WebhookBody) {
  const box = boxOf(tools);
  const { webhook, secret } = await tools.keyed(['SECRETS_KEY'], async (db) => {
    await requireOrganization(db, org);
    await requireDomains(db, org, domains);
    return administration(tools, db).create(org, { ...given, domains, decisions }, box);
  });
  return { ...shown(webhook), secret: formatSecret(secret) };
}

async function set(tools: WebhookTools, webhookId: string, change: WebhookChange) {
  if (Object.keys(change).length === 0) throw new Error('say what to change: see --help');
  const box = change.headers && boxOf(tools);
  const changing = async ({ webhook: { organizationId }, admin, db }: OnWebhook) => {
    await requireDomains(db, organizationId, change.domains);
    return admin.change(organizationId, webhookId, change, { box });
  };
  const after = await onWebhook(tools, webhookId, changing, box ? ['SECRETS_KEY'] : []);
  if (typeof after === 'string') throw notFound(webhookId);
  return shown(after);
}

async function rotate(tools: WebhookTools, webhookId: string) {
  const box = boxOf(tools);
  const rotating = ({ webhook, admin }: OnWebhook) => admin.rotate(webhook.organizationId, webhookId, box);
  const rotated = await onWebhook(tools, webhookId, rotating, ['SECRETS_KEY']);
  if (!rotated) throw notFound(webhookId);
  return { webhookId, secret: formatSecret(rotated.secret), previousUntil: rotated.previousUntil };
}

async function reseal(tools: WebhookTools) {
  const { secretsKey, previousSecretsKey, actor } = tools.config();
  const box = createSecretBox(secretsKey(), previousSecretsKey());
  return { resealed: await tools.keyed(['SECRETS_KEY'], (db) => resealSecrets(db, box, actor)) };
}

async function replay(tools: WebhookTools, webhookId: string, { domainId, from }: { domainId: string; from: number }) {
  const found = await onWebhook(tools, webhookId, async ({ webhook, admin, db }) => {
    await requireDomains(db, webhook.organizationId, [domainId]);
    if (!receivesRecordsOf(webhook, domainId))
      throw new Error(`webhook ${webhookId} receives no records of domain ${domainId}`);
    return admin.replay(webhook, { domainId, from });
  });
  if (!found) throw new Error(`the log of domain ${domainId} has no position ${from}`);
  return { webhookId, domainId, log: found.log, from, size: found.size };
}

async function deliveries(tools: WebhookTools, webhookId: string, limit: number) {
  const found = await onWebhook(tools, webhookId, ({ webhook: { number }, db }) =>
    db.read((sql) => listDeliveries(sql, { webhook: number, limit })),
  );
  return listed(
    'deliveries',
    found.map(({ number, ...delivery }) => delivery),
  );
}

const administration = (tools: WebhookTools, db: Database) => createWebhookAdministration(db, tools.config().actor);
const boxOf = (tools: WebhookTools) => createSecretBox(tools.config().secretsKey());

interface OnWebhook {
  webhook: Webhook;
  admin: ReturnType<typeof createWebhookAdministration>;
  db: Database;
}

const onWebhook = <T>(
  tools: WebhookTools,
  webhookId: string,
  work: (on: OnWebhook) => Promise<T>,
  keys: 'SECRETS_KEY'[] = [],
) =>
  tools.keyed(keys, async (db) => {
    const webhook = await db.read((sql) => findWebhookAnywhere(sql, webhookId));
    if (!webhook) throw notFound(webhookId);
    return work({ webhook, admin: administration(tools, db), db });
  });

const notFound = (webhookId: string) => new Error(`no webhook ${webhookId}`);

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

async function requireDomains(db: Database, organizationId: string, domains: string[] | null = null): Promise<void> {
  for (const domainId of domains ?? []) {
    const [found] = await db.read(
      (sql) => sql`select from domains where id = ${domainId} and organization_id = ${organizationId}`,
    );
    if (!found) throw new Error(`the organization has no domain ${domainId}`);
  }
}
