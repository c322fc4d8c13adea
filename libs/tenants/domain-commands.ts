import { Command } from 'commander';
import { z } from 'zod';
import { find, listed, type Tools } from '#libs/base/cli/session';
import { flags, none, text, verbsOf } from '#libs/base/cli/verb';
import { wholeNumber } from '#libs/base/cli/whole-number';
import { publicAddress } from '#libs/base/config/kinds';
import { domainPath } from '#libs/base/terms/parameters';
import { companions, hashedPath, integrityOf, keepWidgetFiles, readWidgetFile } from '#libs/widget/files';
import { type Administration, administer, type TenantTools } from './administration.ts';
import type { Unchanged } from './audited-change.ts';
import { requireDomain, requireOrganization } from './command-subject.ts';
import { domainBody, domainChange } from './contract.ts';
import { listAllDomains, type ManagedDomain } from './domains.ts';
import { listAllKeys } from './keys.ts';
import { findDomains } from './tenants.ts';

/** The widget's build lies beside the command line's. */
const widgetBuild = new URL('../../apps/widget/', import.meta.url);

const domainId = domainPath.shape.domainId
  // the hash `assent:logs` in Redis has a field for each domain id, and one named `run_id`
  .refine((id) => id !== 'run_id', 'is reserved');

const createFlags = flags(
  z.object({
    id: domainId.optional().describe('its id; default: generated'),
    ...domainBody.omit({ name: true }).shape,
  }),
  {
    origins: ['--origin <url>', 'an origin that may record; repeatable; default: any origin'],
    policyVersion: ['--policy-version <version>', 'the policy under which permissions must be given; default: any'],
  },
);

/** Without `archivedAt`, which `restore` sets. */
const setFlags = flags(
  domainChange,
  {
    name: ['--name <name>', 'its new name'],
    origins: ['--origin <url>', 'an origin that may record; repeatable; replaces those so far'],
    validMonths: ['--valid-months <n>', 'calendar months for which permissions are valid', wholeNumber(120, 1)],
    policyVersion: ['--policy-version <version>', 'the policy under which permissions must be given'],
  },
  {
    '--no-origins': ['any origin may record', { origins: [] }],
    '--no-expiry': ['permissions do not expire', { validMonths: null }],
    '--no-policy': ['permissions hold under any policy', { policyVersion: null }],
  },
);

/** As PUBLIC_URL. */
const address = z
  .string()
  .refine((url) => publicAddress.safeParse(url).success, `must be ${publicAddress.meta()?.rule}`);
const showFlags = flags(
  z.object({
    api: address.optional().meta({
      description: 'where pages reach the service: also prints the script tag, without the key; default: PUBLIC_URL',
      value: 'url',
    }),
  }),
);

const shownOf = (domain: ManagedDomain) => {
  const { domainId, organizationId, name, origins, validMonths, policyVersion } = domain;
  return { domainId, organizationId, name, origins, validMonths, policyVersion };
};

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
  const noun = new Command('domain').description('domains: the websites where you ask for consent');
  const verb = verbsOf(noun);

  verb('create <org> <name>', createFlags, async ({ id, origins = [], ...rest }, organizationId, name) =>
    shownOf(
      await administer(tools, (admin) => admin.createDomain(organizationId, { domainId: id, name, origins, ...rest })),
    ),
  ).description('create a domain of an organization');

  verb('set <domain>', setFlags, async (change, id) => {
    if (Object.keys(change).length === 0) throw new Error('give what to change, such as --name');
    return stateOf(await onDomain(tools, id, (admin, owner) => admin.changeDomain(owner, id, change)));
  }).description('rename a domain, or change which origins may record and how long permissions are valid');

  verb('archive <domain>', none, async (_, id) =>
    stateOf(await onDomain(tools, id, (admin, owner) => admin.archiveDomain(owner, id))),
  ).description('end recording and revoke the keys; what was recorded can still be read');

  verb('restore <domain>', none, async (_, id) =>
    stateOf(await onDomain(tools, id, (admin, owner) => admin.changeDomain(owner, id, { archivedAt: null }))),
  ).description('bring an archived domain back; its old keys stay revoked');

  verb('list', flags(z.object({ org: text('only this organization') })), async ({ org }) => {
    const domains = await tools.database(async (db) => {
      if (org !== undefined) await requireOrganization(db, org);
      return db.read((sql) => listAllDomains(sql, org));
    });
    return listed('domains', domains);
  }).description('list domains');

  verb('show <domain>', showFlags, async ({ api = tools.config().publicUrl }, id) => {
    const file = readWidgetFile(widgetBuild, 'widget');
    const others = companions.map((name) => readWidgetFile(widgetBuild, name));
    const domains = await tools.database((db) =>
      db.write(async (sql) => {
        // the printed path must stay valid in later releases, with all that it loads
        await keepWidgetFiles(sql, [file, ...others]);
        return listAllDomains(sql);
      }),
    );
    const domain = find(domains, 'domainId', id, 'domain');
    const shown = { ...domain, widget: hashedPath(file), integrity: integrityOf(file) };
    return api ? { ...shown, tag: tagOf(api, shown) } : shown;
  }).description('show a domain and the permanent path of the current widget');
  return noun;
}

export function keyCommand(tools: TenantTools): Command {
  const noun = new Command('key').description('API keys: write-only, one domain each; several may be active');
  const verb = verbsOf(noun);

  verb('create <domain>', none, async (_, domainId) => {
    const { apiKey } = await administer(tools, (admin) => admin.createKey(domainId));
    return { domainId, apiKey };
  }).description('create a key; it is shown only once');

  verb('revoke <domain> <keyprefix>', none, (_, domainId, prefix) =>
    administer(tools, (admin) => admin.revokeKey(domainId, prefix)),
  ).description('revoke the active key that begins with the prefix; it stops working within a second');

  verb('list', flags(z.object({ domain: text('only this domain') })), async ({ domain }) => {
    const keys = await tools.database(async (db) => {
      if (domain !== undefined) await requireDomain(db, domain);
      return db.read((sql) => listAllKeys(sql, domain));
    });
    return listed('keys', keys);
  }).description('list keys');

  verb('show <domain> <keyprefix>', none, async (_, domain, prefix) => {
    const keys = await tools.database((db) => db.read((sql) => listAllKeys(sql, domain)));
    const found = keys.filter((key) => key.prefix.startsWith(prefix) || prefix.startsWith(key.prefix));
    const [key] = found;
    if (!key) throw new Error(`domain ${domain} has no key that begins with ${prefix}`);
    if (found.length > 1) throw new Error(`${found.length} keys begin with ${prefix}; give more of it`);
    return key;
  }).description('show one key');
  return noun;
}
