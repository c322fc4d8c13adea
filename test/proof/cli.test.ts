import { describe, expect, it } from 'vitest';
import { sha256 } from '#libs/base/sha256';
import { parseVerifierKey } from '#libs/proof/tree/verifier-key';
import { persist } from '#libs/record/persist/persist';
import { createCli } from '../support/cli.ts';
import { recordAt } from '../support/records.ts';
import { createSealer, logName } from '../support/sealing.ts';
import { at, openStores } from '../support/stack.ts';
import { makeTenant, openRedis } from '../support/stores.ts';

const now = Date.now();

const { env, db, sql } = await openStores();
const cli = createCli({ ...env, LOG_NAME: logName });
const tenant = await makeTenant(db, { domains: 2 });
const [one, two] = [at(tenant.domainIds, 0), at(tenant.domainIds, 1)];
const sealer = createSealer(db, await openRedis(env.REDIS_URL));

describe('sealed logs by the command line', () => {
  const store = (domainId: string, count: number) =>
    persist(
      db,
      Array.from({ length: count }, (_, each) => recordAt(now - each, { domainId })),
    );
  /** exit code and answer */
  const check = async (...args: string[]) => {
    const { code, stdout } = await cli.run('log', 'check', ...args, '--json');
    return { code, ...JSON.parse(stdout) };
  };
  const sound = (checked: number) => ({ code: 0, checked, comparedWithRedis: true, differences: [] });

  it('say where nothing is sealed yet', async () => {
    expect(await cli.json('log', 'status')).toEqual({ logs: [] });
    expect((await cli.run('log', 'status')).stdout).toBe('nothing is sealed yet\n');
    expect(await cli.error('log', 'key', one)).toBe(`nothing of domain ${one} is sealed yet`);
    expect(await cli.error('log', 'key', 'nobody')).toBe('no domain nobody');
    expect(await cli.error('log', 'restart', one)).toBe(`domain ${one} has no log: nothing of it is sealed yet`);
    expect(await cli.json('log', 'confirm')).toEqual({ confirmed: 0, behind: [] });
    expect(await check()).toEqual(sound(0));
  });

  it('log status tells how far each log is sealed, and how far sealing lags behind', async () => {
    await store(one, 3);
    await store(two, 2);
    await sealer.closeAndSeal();
    const fine = { log: 1, sealedAt: expect.stringMatching(/^\d{4}-.*Z$/), halted: null, behind: false };
    expect(await cli.json('log', 'status')).toEqual({
      logs: [
        { domainId: one, size: 3, ...fine },
        { domainId: two, size: 2, ...fine },
      ],
    });
    const { stdout } = await cli.run('log', 'status');
    expect(stdout).toMatch(
      new RegExp(`^domainId .*halted\\n${one} +1 +3 .*–\\n${two} +1 +2 .*–\\nsealing is 0 s behind`),
    );
  });

  it('log key prints the verifier keys', async () => {
    const { verifierKeys } = await cli.json<{ verifierKeys: string[] }>('log', 'key', one);
    expect(verifierKeys.map((key) => parseVerifierKey(sha256, key).name)).toEqual([`${logName}/${one}`]);
    expect((await cli.run('log', 'key', one)).stdout).toBe(`${verifierKeys[0]}\n`);
    expect(await cli.error('log', 'key', one, '--log', '2')).toMatch(/has no log 2/);
  });

  it('log check exits 1 for a changed record, and names its position', async () => {
    expect(await check()).toEqual(sound(5));
    const [changed] = await sql<{ id: string }>`
        update records set decision = 'withdraw' where id = (
          select id from records where domain_number = (select number from domains where id = ${two}) order by id limit 1
        ) returning id`;
    const what = `record ${changed?.id} as stored, or its secret, is not what was sealed`;
    const differences = [{ domainId: two, log: 1, position: 0, what }];
    expect(await check()).toEqual({ ...sound(5), code: 1, differences });
    expect(await check('--domain', two)).toEqual({ ...sound(2), code: 1, differences });
    expect(await check('--domain', one)).toEqual(sound(3));
    expect(await cli.error('log', 'check', '--domain', 'nobody')).toBe('no domain nobody');
    const { code, stdout } = await cli.run('log', 'check');
    expect({ code, stdout }).toEqual({ code: 1, stdout: expect.stringContaining(what) });
    await sql`update records set decision = 'accept_all' where id = ${changed?.id ?? ''}`;
  });

  it('log check goes without Redis, and says so', async () => {
    expect(await createCli({ ...env, REDIS_URL: 'redis://127.0.0.1:1' }).run('log', 'check')).toEqual({
      code: 0,
      stdout: expect.stringMatching(/^checked +5\ncomparedWithRedis +false\n/),
      stderr: 'not compared with what Redis remembers: Redis does not respond\n',
    });
  });

  it('log status says of a halted log why, and what to do; log confirm releases what is unconfirmed alone', async () => {
    await sql`update logs set halted = 'behind' where origin = ${`${logName}/${one}`}`;
    await sql`update logs set halted = 'unconfirmed' where origin = ${`${logName}/${two}`}`;
    const { stdout } = await cli.run('log', 'status');
    expect(stdout).toMatch(/ behind\n.* unconfirmed\nbehind: .*log restart.*\nunconfirmed: .*log confirm\n/);
    expect(await cli.json('log', 'status')).toMatchObject({ logs: [{ behind: true }, { behind: false }] });
    expect(await cli.json('log', 'confirm', one)).toEqual({ confirmed: 0, behind: [one] });
    expect((await cli.run('log', 'confirm')).stdout).toMatch(
      new RegExp(`^confirmed +1\\nbehind +${one}\\nthose behind lack entries`),
    );
  });

  it('log restart ends a log and begins the next, and wants LOG_NAME', async () => {
    expect(await createCli({ ...env }).error('log', 'restart', one)).toMatch(/^LOG_NAME must be set/);
    expect(await cli.error('log', 'restart')).toBe('give either a domain or --all-behind');
    expect(await cli.error('log', 'restart', one, '--all-behind')).toBe('give either a domain or --all-behind');
    expect(await cli.error('log', 'restart', 'nobody')).toBe('no domain nobody');
    const { stdout } = await cli.run('log', 'restart', '--all-behind');
    expect(stdout).toContain(`${logName}/${one}/2`);
    expect(await cli.json('log', 'restart', '--all-behind')).toEqual({ restarted: [] });
    expect(await cli.error('log', 'restart', two)).toBe(
      `log 1 of ${two} is not halted; to end it all the same, give --yes`,
    );
    expect((await cli.run('log', 'restart', two, '--yes', '--log', '7')).stdout).toContain(
      'log 1 ended at 2 entries and stays readable',
    );
    await store(one, 4);
    await sealer.closeAndSeal();
    expect(await cli.json('log', 'status')).toMatchObject({
      logs: [
        { domainId: one, log: 2, size: 4, behind: false },
        { domainId: two, log: 7, size: 0, sealedAt: null, behind: false },
      ],
    });
    for (const [args, origin] of [
      [[], `${logName}/${one}/2`],
      [['--log', '1'], `${logName}/${one}`],
    ] as const) {
      const { verifierKeys } = await cli.json<{ verifierKeys: string[] }>('log', 'key', one, ...args);
      expect(parseVerifierKey(sha256, at(verifierKeys, 0)).name).toBe(origin);
    }
  });
});
