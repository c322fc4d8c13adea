/** Stored checks of a site. */
import { hash } from 'node:crypto';
import type { Sql } from '#libs/base/db/database';
import { Problem } from '#libs/base/terms/problem';
import type { Perform } from '#libs/tenants/audited-change';
import { domainNotFound } from '#libs/tenants/requirements';
import { type CheckResult, largestCheck, mostChecks, type StoredCheck } from './contract.ts';
import { ownersOf } from './host-owners.ts';
import { findVersion } from './versions.ts';

export interface ListedCheck {
  /** increases with each check, across all domains */
  number: number;
  checkId: string;
  checkedAt: Date;
  by: string;
  bannerVersion: number | null;
  sha256: string;
}

const columns = (sql: Sql) => sql`
  number, id as "checkId", checked_at as "checkedAt", checked_by as by, banner_version as "bannerVersion", sha256`;

/** Newest first. */
export const listChecks = (
  sql: Sql,
  { domainNumber, limit, after }: { domainNumber: number; limit: number; after?: number | undefined },
) => sql<ListedCheck[]>`
  select ${columns(sql)} from site_checks
  where domain_number = ${domainNumber} ${after === undefined ? sql`` : sql`and number < ${after}`}
  order by number desc limit ${limit}`;

export async function findCheck(sql: Sql, domainNumber: number, checkId: string) {
  const [found] = await sql<(ListedCheck & { result: string })[]>`
    select ${columns(sql)}, result from site_checks where domain_number = ${domainNumber} and id = ${checkId}`;
  return found;
}

/** Adds the owners of hosts, and drops the least frequent hosts if the result is too long. */
export async function toStored({ origin, model, gpc, steps }: CheckResult): Promise<string> {
  const owned = await Promise.all(
    steps.map(async (step) => {
      const owners = await ownersOf(step.hosts.map(({ host }) => host));
      const hosts = step.hosts
        .map(({ host, requests }, at) => ({ host, requests, known: owners[at] ?? null }))
        .sort((one, other) => other.requests - one.requests);
      return { ...step, hosts };
    }),
  );
  for (let most = Math.max(...owned.map(({ hosts }) => hosts.length)); ; most = Math.floor(most / 2)) {
    const cut = owned.map((step) => ({
      ...step,
      hosts: step.hosts.slice(0, most),
      moreHosts: step.moreHosts + Math.max(0, step.hosts.length - most),
    }));
    const text = JSON.stringify({ origin, model, gpc, steps: cut } satisfies StoredCheck);
    if (Buffer.byteLength(text) <= largestCheck || most === 0) return text;
  }
}

interface NewCheck {
  domainId: string;
  checkId: string;
  by: string;
  /** JSON */
  result: string;
}

/** A ticket stores one result: the same result again returns that check, another one is a 401. */
export const addCheck = (
  perform: Perform,
  { domainId, checkId, by, result }: NewCheck,
): Promise<{ check: ListedCheck; isNew: boolean }> =>
  perform(async (sql, note) => {
    const sha256 = hash('sha256', result);
    // the second of two tabs with the same check waits here, and then finds the first
    const [domain] = await sql<{ number: number }[]>`
      select number from domains where id = ${domainId} for no key update`;
    if (!domain) throw domainNotFound();
    const domainNumber = domain.number;
    const before = await findCheck(sql, domainNumber, checkId);
    if (before && before.sha256 !== sha256)
      throw new Problem('invalid_ticket', 'the ticket has stored another result; start the check again');
    if (before) return { check: before, isNew: false };
    const version = (await findVersion(sql, domainNumber))?.number ?? null;
    const [check] = await sql<ListedCheck[]>`
      insert into site_checks (domain_number, id, checked_by, banner_version, sha256, result)
      values (${domainNumber}, ${checkId}, ${by}, ${version}, ${sha256}, ${result})
      returning ${columns(sql)}`;
    if (!check) throw new Error('a check was not stored');
    await sql`
      delete from site_checks where domain_number = ${domainNumber} and number not in (
        select number from site_checks where domain_number = ${domainNumber} order by number desc limit ${mostChecks})`;
    await note({
      act: 'site.check',
      subject: domainId,
      domainId,
      details: { checkId, sha256, ...(version !== null && { bannerVersion: version }) },
    });
    return { check, isNew: true };
  });

/** Without the result. */
export const toListedCheck = ({ checkId, checkedAt, by, bannerVersion, sha256 }: ListedCheck) => ({
  checkId,
  checkedAt: checkedAt.toISOString(),
  by,
  bannerVersion,
  sha256,
});
