import { beforeAll, describe, expect, it } from 'vitest';
import { addDays, dayOf } from '#libs/contract/calendar';
import { expectBlame } from '../support/problems.ts';
import { type Stack, useStack } from '../support/stack.ts';
import { eventually } from '../support/wait.ts';

const browser = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36';
const crawlers = [
  'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
  'Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)',
  'Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)',
  browser.replace('Chrome/', 'HeadlessChrome/'),
];
const people = [
  browser,
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1',
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0',
];

describe('records of crawlers', () => {
  let stack: Stack;
  const all = crawlers.length + people.length;

  beforeAll(async () => {
    stack = await useStack();
    for (const agent of [...crawlers, ...people]) {
      const decision = agent === browser ? 'withdraw' : 'custom';
      const { status } = await stack.client.record(
        stack.domainId,
        stack.apiKey,
        { decision, visitorId: agent.slice(0, 20) },
        { 'user-agent': agent },
      );
      expect(status).toBe(202);
    }
    await eventually(async () => expect((await stack.client.records(stack.domainId)).body.total).toBe(all));
  });

  const agents = async (query: string) => {
    const { body } = await stack.client.records(stack.domainId, query);
    return { total: body.total, agents: body.records.map(({ userAgent }) => userAgent).sort() };
  };

  it('are marked, and those of browsers are not', async () => {
    const { records } = (await stack.client.records(stack.domainId)).body;
    const marks = Object.fromEntries(records.map(({ userAgent, bot }) => [userAgent, bot]));
    expect(marks).toEqual(
      Object.fromEntries([...crawlers.map((each) => [each, true]), ...people.map((each) => [each, false])]),
    );
    expect((await stack.client.orgStats()).body.records.every((each) => 'bot' in each)).toBe(true);
  });

  it('count like every other', async () => {
    const day = dayOf(Date.now());
    await eventually(async () => {
      expect(
        (await stack.client.stats(stack.domainId, `from=${addDays(day, -1)}&to=${addDays(day, 1)}`)).body.total,
      ).toBe(all);
    });
  });

  it('can be had alone and left out, also beside other filters', async () => {
    expect(await agents('bot=true')).toEqual({ total: crawlers.length, agents: crawlers.toSorted() });
    expect(await agents('bot=false')).toEqual({ total: people.length, agents: people.toSorted() });
    expect(await agents('bot=false&decision=withdraw')).toEqual({ total: 1, agents: [browser] });
    expect(await agents('bot=true&decision=withdraw')).toEqual({ total: 0, agents: [] });
    expect(await agents(`bot=true&visitorId=${encodeURIComponent(browser.slice(0, 20))}`)).toMatchObject({ total: 1 });
  });

  it('are had page by page', async () => {
    const { body: first } = await stack.client.records(stack.domainId, 'bot=true&limit=3');
    const { body: second } = await stack.client.records(stack.domainId, `bot=true&limit=3&cursor=${first.nextCursor}`);
    const { body: paged } = await stack.client.records(stack.domainId, 'bot=true&limit=3&page=2');
    expect([first.records.length, second.records.length, second.nextCursor]).toEqual([3, 1, null]);
    expect(paged.records).toEqual(second.records);
  });

  it.each(['1', 'TRUE', '', 'yes'])('bot=%s is refused by name', async (value) => {
    expectBlame(await stack.client.records(stack.domainId, `bot=${value}`), '/bot');
  });
});
