import { describe, expect, it } from 'vitest';
import { isUnavailable } from '#libs/store/errors';
import { createDatabase, type Database } from '#libs/store/sql';
import { createAdministration } from '#libs/store/tenants/administration';
import { createTenantCache, type TenantCache } from '#libs/store/tenants/tenant-cache';
import { hashApiKey, makeApiKey } from '#libs/store/tenants/tenants';
import { atEnd } from '../support/at-end.ts';
import { openOwnPostgres } from '../support/outage.ts';
import { makeTenant } from '../support/stores.ts';
import { eventually } from '../support/wait.ts';

describe('tenants while Postgres is away', () => {
  it('that are known are served, unknown ones are an error and never a no, and changes arrive once it is back, also where acts are missing', async () => {
    const postgres = await openOwnPostgres();
    const db: Database = createDatabase({
      url: postgres.url,
      max: 4,
      statementTimeout: 2_000,
      deadline: 2_300,
      prepare: true,
      name: 'test',
    });
    let failedPolls = 0;
    const warn = () => {
      failedPolls += 1;
    };
    const cache: TenantCache = createTenantCache(db, { warn });
    atEnd(() => {
      cache.close();
      return db.close();
    });
    const { organizationId, domainIds, apiKeys } = await makeTenant(db, { domains: 2 });
    const [domainId = ''] = domainIds;
    const [known = '', neverAsked = ''] = apiKeys;
    const { apiKey: lost } = await createAdministration(db, 'tester').createKey(domainId);
    await cache.follow();
    expect(await cache.domainOfKey(lost)).not.toBeNull();
    const before = await Promise.all([
      cache.domainOfKey(known),
      cache.domain(domainId),
      cache.organization(organizationId),
    ]);

    await postgres.stop();
    await eventually(() => expect(failedPolls).toBe(1));
    const away = (question: Promise<unknown>) => expect(question).rejects.toSatisfy(isUnavailable);
    await away(cache.domainOfKey(neverAsked));
    await away(cache.domainOfKey(makeApiKey()));
    await away(cache.domain('dom_never_asked'));
    await away(cache.organization('org_never_asked'));
    expect(
      await Promise.all([cache.domainOfKey(known), cache.domain(domainId), cache.organization(organizationId)]),
    ).toEqual(before);

    await postgres.start();
    await eventually(async () => expect((await cache.domainOfKey(neverAsked))?.domainId).toBe(domainIds[1]));
    // the same as before: what was known still is, without a lookup
    await cache.catchUp();
    expect(cache.knownDomainOfKey(known)).toEqual(before[0]);
    // as where a replica takes its place, which has got neither the key nor the act, and then another one
    await db.run((sql) =>
      sql.begin(async (inside) => {
        await inside`delete from api_keys where hash = decode(${hashApiKey(lost)}, 'hex')`;
        await inside`delete from administrative_acts where subject = ${hashApiKey(lost)}`;
        await inside`insert into administrative_acts (actor, act, subject) values ('tester', 'domain.create', 'dom_other')`;
      }),
    );
    await eventually(async () => expect(await cache.domainOfKey(lost)).toBeNull());
    await createAdministration(db, 'tester').revokeKey(domainId, known);
    await eventually(async () => expect(await cache.domainOfKey(known)).toBeNull());
  });
});
