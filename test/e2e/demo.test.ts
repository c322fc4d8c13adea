import { beforeAll, describe, expect, it } from 'vitest';
import { type ProblemAnswer, request } from '../support/client.ts';
import { type Api, startApi } from '../support/service.ts';
import { makeTenant } from '../support/stores.ts';
import { expectBlame, expectProblem } from './problems.ts';
import { at, openStores } from './stack.ts';

describe('what the demo shop shows of a visitor', () => {
  let api: Api;

  beforeAll(async () => {
    const { db, env } = await openStores();
    const { domainIds, apiKeys } = await makeTenant(db);
    api = await startApi({ ...env, DEMO_DOMAIN: at(domainIds, 0), DEMO_API_KEY: at(apiKeys, 0) });
  });

  const look = (visitorId: string) => request<ProblemAnswer>(api.baseUrl, `/demo/records/${visitorId}`);

  it.each(['%00', 'a%00', 'v'.repeat(129)])(
    'is asked for by an id that the log can hold, not %s',
    async (visitorId) => {
      expectBlame(await look(visitorId), '/visitorId');
    },
  );

  it('is limited by address', async () => {
    expect((await look('somebody')).status).toBe(200);
    const answers = await Promise.all(Array.from({ length: 300 }, () => look('somebody')));
    expectProblem(
      at(
        answers.filter(({ status }) => status === 429),
        0,
      ),
      429,
      'rate_limited',
    );
  });
});
