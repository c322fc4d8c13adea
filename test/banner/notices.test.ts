import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { publish } from '#libs/banner/publishing';
import type { NoticesPage } from '#libs/notices/contract';
import { dropUnnamedNotices, judgeNotices } from '#libs/notices/dropping';
import { createPerform, type Perform } from '#libs/tenants/audited-change';
import { publishedNotices } from '#libs/widget/published-notices';
import { createPublisher } from '../support/banner.ts';
import { request } from '../support/client.ts';
import { openPool } from '../support/pool.ts';
import { expectProblem } from '../support/problems.ts';
import { startStack, withOwnDomain } from '../support/stack.ts';

const stack = await startStack({ worker: false });
const publisher = createPublisher(stack);
const hashOf = (text: string) => createHash('sha256').update(text).digest('hex');

const put = (text: string) =>
  request<{ notice: string; code?: string }>(
    stack.api.baseUrl,
    `/v1/consent/${stack.domainId}/notices/${hashOf(text)}`,
    { method: 'PUT', headers: { 'content-type': 'application/json', 'x-api-key': stack.apiKey }, body: text },
  );
const held = async () =>
  (await stack.client.get<NoticesPage>(`/v1/consent/${stack.domainId}/notices?limit=200`)).body.notices;

it('first-view notices are kept for good: those of the site at once, the others as a browser sends them, beyond all limits', async () => {
  const settings = {
    texts: { title: 'Hello', de: { title: 'Hallo' } },
    experiment: { id: 'test', variants: [{ name: 'a' }, { name: 'b', settings: { texts: { title: 'Hi' } } }] },
  };
  await publisher.publish(settings);
  const all = [...publishedNotices(settings, '1')];
  const stored = all.filter(({ language, gpc }) => !gpc && ['en', 'de'].includes(language));
  expect(stored.length).toBe(4);
  expect((await held()).map(({ notice }) => notice).sort()).toEqual(stored.map(({ text }) => hashOf(text)).sort());

  for (let made = 0; made < 20; made += 1) expect((await put(`{"made":${made}}`)).status).toBe(201);
  expect((await put('{"made":20}')).status).toBe(429);
  const rare = all.filter(({ language, gpc }) => gpc && language === 'mt');
  expect(rare.length).toBe(2);
  for (const { text } of rare) expect((await put(text)).status).toBe(201);

  await stack.sql`update notices set documented_at = documented_at - interval '40 days'`;
  await dropUnnamedNotices(stack.db);
  await judgeNotices(stack.db);
  const kept = [...stored, ...rare].map(({ text }) => hashOf(text));
  expect((await held()).map(({ notice }) => notice).sort()).toEqual(kept.sort());
});

it('settings whose notice a browser could not hash are saved, but not published', async () => {
  await publisher.save({ texts: { intro: 'x'.repeat(17_000) } });
  expectProblem(await publisher.publishDraft(), 400, 'invalid_request');
  expect((await publisher.versions()).body.versions.map(({ version }) => version)).toEqual([1]);
});

it('publishing as many notices as settings can have leaves others their turn', async () => {
  const regions = Array.from({ length: 100 }, (_, number) => String.fromCharCode(65 + (number % 26), 65 + number / 26));
  const settings = {
    categories: [{ id: 'maps', services: Array.from({ length: 130 }, () => ({ name: 'x'.repeat(80) })) }],
    texts: Object.fromEntries(regions.map((region) => [`de-${region}`, { title: `Ihre Wahl in ${region}` }])),
    experiment: { id: 'test', variants: Array.from({ length: 20 }, (_, number) => ({ name: `variant-${number}` })) },
  };
  const { domainId } = await withOwnDomain(stack);
  const saved = await createPublisher({ ...stack, domainId }).save(settings);
  expect(saved.status).toBe(200);
  const patient = openPool(stack.env.DATABASE_URL, { max: 1, statementTimeout: 0, deadline: 170_000 });
  // an idle transaction is ended after five seconds, which a busy machine needs to make all notices
  const inHaste: Perform = (change) =>
    createPerform(
      patient,
      'test',
    )(async (sql, note) => {
      await sql`select set_config('idle_in_transaction_session_timeout', '500', true)`;
      return change(sql, note);
    });
  let longest = 0;
  let since = process.cpuUsage();
  const others = setInterval(() => {
    const { user, system } = process.cpuUsage(since);
    longest = Math.max(longest, (user + system) / 1_000);
    since = process.cpuUsage();
  }, 1);
  await publish(inHaste, domainId, { by: 'test' }).finally(() => clearInterval(others));
  const [expected] = await stack.sql<{ notices: number }>`
    select count(*)::int as notices from expected_notices join domains on number = domain_number where id = ${domainId}`;
  expect(expected?.notices).toBeGreaterThan(5_000);
  // milliseconds of this process's work, which yields after five: to make them all at once takes a second
  expect(longest).toBeLessThan(250);
});
