import { expect, it } from 'vitest';
import { request, tokenFor } from '../support/client.ts';
import { connectAs, createEmptyDatabase } from '../support/database.ts';
import { runCli } from '../support/run-cli.ts';
import { startApi, startWorker } from '../support/service.ts';
import { sharedPostgresUrl } from '../support/shared.ts';
import { openRedisServer } from '../support/stores.ts';
import { eventually } from '../support/wait.ts';

it('a database without its schema: not ready, 503 and one line that says what to do; then it is migrated', async () => {
  const url = await createEmptyDatabase(sharedPostgresUrl());
  const redis = await openRedisServer();
  const env = { DATABASE_URL: url, REDIS_URL: redis.url };
  const [api, worker] = await Promise.all([startApi(env), startWorker(env)]);
  const expectReady = (status: number, body: object) =>
    Promise.all(
      [api, worker].map(async ({ opsUrl }) => {
        const response = await fetch(`${opsUrl}/readyz`);
        expect({ status: response.status, body: await response.json() }).toMatchObject({ status, body });
        const metrics = await (await fetch(`${opsUrl}/metrics`)).text();
        expect(metrics).toContain(`\nassent_ready ${status === 200 ? 1 : 0}\n`);
      }),
    );
  const degraded = [{ part: 'postgres', reason: 'lacks migrations of this release' }];
  const lacking = { postgres: false, redis: true, degraded };
  await eventually(() => expectReady(503, lacking));
  const headers = { authorization: `Bearer ${tokenFor('org_x')}` };
  expect((await request(api.baseUrl, '/v1/organization', { headers })).status).toBe(503);
  const refused = await runCli(env, 'plan', 'list');
  expect(refused).toMatchObject({ code: 1, stdout: '' });
  expect(refused.stderr).toMatch(/^the database has no schema.*npm run migrate\n$/);

  // from the build, which has its migrations beside it
  const migrated = await runCli({ ...env, NODE_ENV: 'test' }, 'migrate', '--json');
  expect(migrated).toMatchObject({ code: 0, stderr: '' });
  expect(JSON.parse(migrated.stdout).done).toContainEqual(expect.stringMatching(/^Applied: /));
  await eventually(async () => {
    expect((await request(api.baseUrl, '/v1/organization', { headers })).status).toBe(401);
  });
  await eventually(() => expectReady(200, { postgres: true }));

  // as the release before left it
  await connectAs(url)`delete from schema_migrations where version = (select max(version) from schema_migrations)`;
  await eventually(() => expectReady(503, lacking));
});
