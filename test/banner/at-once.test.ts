/** A banner that is saved, published and loaded at once, in two API processes. */
import { expect, it } from 'vitest';
import { createPublisher } from '../support/banner.ts';
import { createAsk, createClient } from '../support/client.ts';
import { expectProblem } from '../support/problems.ts';
import { startApi } from '../support/service.ts';
import { at, type StackWithApi, useStackWithApi, withOwnDomain } from '../support/stack.ts';
import { eventually, withinASecond } from '../support/wait.ts';

const stack = await useStackWithApi();
const apis = [stack.api, await startApi(stack.env)];
const { organizationId } = stack.tenant;
const manage = createAsk(stack.api.baseUrl, organizationId, { scope: 'manage' });

async function newSite() {
  const { domainId } = await withOwnDomain<StackWithApi>(stack);
  return { domainId, publishers: apis.map((api) => createPublisher({ ...stack, api, domainId })) };
}

const load = async (baseUrl: string, domainId: string) => {
  const response = await fetch(`${baseUrl}/w/${domainId}.js`);
  return { status: response.status, text: await response.text() };
};
/** of the last of the file's settings */
const keyIn = (text: string) => /"key":"(ak_[\w-]{32})","api"/.exec(text)?.[1] ?? '';

it.each([
  ['first', []],
  ['next', [{}]],
])('of two drafts that are saved at once, the %s ones of a domain, one is refused', async (_, before) => {
  const { publishers } = await newSite();
  for (const settings of before) await at(publishers, 0).save(settings);
  const headers = { 'if-match': `"${before.length}"` };
  const both = await Promise.all(publishers.map(({ save }, index) => save({ company: `Shop ${index}` }, headers)));
  const [saved, refused] = both.toSorted((one, other) => one.status - other.status);
  expect(saved?.status).toBe(200);
  if (refused) expectProblem(refused, 412, 'changed_meanwhile');
  expect((await at(publishers, 0).draft()).body).toEqual(saved?.body);
});

it('what is published twice at once is one version, with one key, in force within a second in every process', async () => {
  const { domainId, publishers } = await newSite();
  for (const company of ['Shop', 'Other shop']) {
    const before = await Promise.all(apis.map(({ baseUrl }) => load(baseUrl, domainId)));
    expect(before.map(({ status }) => status)).toEqual([200, 200]);
    await at(publishers, 0).save({ company });
    const both = await Promise.all(publishers.map(({ publishDraft }) => publishDraft()));
    expect(both.map(({ status }) => status).sort()).toEqual([200, 201]);
    expect(both[0]?.body).toEqual(both[1]?.body);
    await eventually(async () => {
      for (const { baseUrl } of apis)
        expect((await load(baseUrl, domainId)).text).toContain(`{"company":"${company}","bannerVersion"`);
    }, withinASecond);
  }
  const keys = await stack.sql`select from api_keys where domain_id = ${domainId} and page_key is not null`;
  expect(keys.length).toBe(1);
});

it('its key is revoked under load: no file has a dead one for a second, and what a file says is accepted', async () => {
  const { domainId, publishers } = await newSite();
  await at(publishers, 0).publish({ company: 'Shop' });
  /** key → when its revocation was answered */
  const revoked = new Map<string, number>();
  const files: { key: string; asked: number }[] = [];
  const records: { key: string; sent: number; status: number }[] = [];
  const faults: unknown[] = [];
  let isRunning = true;
  const visit = async (index: number) => {
    for (let turn = index; isRunning; turn += 1) {
      const [asked, api, next] = [performance.now(), at(apis, turn % 2), at(apis, (turn >> 1) % 2)];
      const { status, text } = await load(api.baseUrl, domainId);
      const key = keyIn(text);
      if (status !== 200 || key === '') faults.push([status, text.slice(0, 100)]);
      files.push({ key, asked });
      const sent = performance.now();
      const record = await createClient(next.baseUrl, stack.tenant).record(domainId, key, { decision: 'accept_all' });
      records.push({ key, sent, status: record.status });
    }
  };
  const visits = Promise.all([0, 1, 2, 3].map(visit));
  const longest = () => Math.max(0, ...files.map(({ key, asked }) => asked - (revoked.get(key) ?? asked)));
  for (let round = 0; round < 4; round += 1) {
    const key = keyIn((await load(at(apis, round % 2).baseUrl, domainId)).text);
    const path = `/v1/organization/domains/${domainId}/keys/${key.slice(0, 11)}`;
    expect((await manage('DELETE', path)).status).toBe(200);
    revoked.set(key, performance.now());
    const [since, before] = [records.length, files.length];
    await eventually(() => {
      const fresh = records.slice(since).filter((each) => !revoked.has(each.key) && each.status === 202);
      expect([fresh.length > 20, files.slice(-8).some((each) => revoked.has(each.key))]).toEqual([true, false]);
      expect(files.length).toBeGreaterThan(before + 20);
    });
  }
  isRunning = false;
  await visits;
  console.log(`of ${files.length} files, the last with a dead key was asked for ${Math.round(longest())} ms after it`);
  expect(faults).toEqual([]);
  expect(longest()).toBeLessThan(withinASecond.within);
  // of a key that was in force when its record was answered
  const refused = records.filter(({ key, status }) => status !== 202 && !revoked.has(key));
  expect(refused).toEqual([]);
});
