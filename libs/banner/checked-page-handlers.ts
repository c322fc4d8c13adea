/** Requests of the checked page: it looks up hosts, and stores the result. The ticket in the body is the only credential. */
import type { Database } from '#libs/base/db/database';
import type { Middleware } from '#libs/base/http/context';
import { guard } from '#libs/base/http/guard';
import { createPerform } from '#libs/tenants/audited-change';
import { readTicket } from './check-ticket.ts';
import { addCheck, toListedCheck, toStored } from './checks.ts';
import { ownersOf } from './host-owners.ts';
import { siteCheckRoutes as routes } from './routes.ts';

interface Parts {
  config: { secretsKey: Buffer | undefined };
  db: Database;
}

export const lookUpHosts = ({ config }: Parts): Middleware =>
  guard(routes.lookUpHosts, async (ctx, { params: { domainId }, body: { ticket, hosts } }) => {
    readTicket(config.secretsKey, domainId, ticket, ctx.state.receivedAt);
    const owners = await ownersOf(hosts);
    ctx.body = { hosts: hosts.map((host, at) => ({ host, known: owners[at] ?? null })) };
  });

export const storeCheck = ({ config, db }: Parts): Middleware =>
  guard(routes.storeCheck, async (ctx, { params: { domainId }, body: { ticket, ...given } }) => {
    const { checkId, actor } = readTicket(config.secretsKey, domainId, ticket, ctx.state.receivedAt);
    const result = await toStored(given);
    const perform = createPerform(db, actor);
    const { check, isNew } = await addCheck(perform, { domainId, checkId, by: actor, result });
    ctx.status = isNew ? 201 : 200;
    ctx.body = toListedCheck(check);
  });
