/** What the dashboard computes, apart from its pages. */
import { describe, expect, it } from 'vitest';
import type { OrgStats, ShortRecord } from '#libs/log/contract';
import { fullRecord } from '#libs/record/contract';
import { fullRecord as example } from '#libs/record/examples';
import type { Organization } from '#libs/stats/contract';
import { organization as exampleOrganization } from '#libs/stats/examples';
import { webhookBody } from '#libs/webhooks/contract';
import { deliveriesPage, webhook as exampleWebhook } from '#libs/webhooks/examples';
import { countTicks } from '../../apps/dashboard/charts/scale.ts';
import { proportionOf, rateIn } from '../../apps/dashboard/data/group-rows.ts';
import {
  intervalIn,
  intervalsOf,
  nameOfPrevious,
  periodBefore,
  periodIn,
  presets,
} from '../../apps/dashboard/data/periods.ts';
import { originFrom } from '../../apps/dashboard/data/typed-origin.ts';
import { currentUsage } from '../../apps/dashboard/home/current-usage.ts';
import { appendPage, idOf, mergeLatest, startStream } from '../../apps/dashboard/home/stream.ts';
import { fieldsOf } from '../../apps/dashboard/parts/record-fields.ts';
import { type Act, describeAct } from '../../apps/dashboard/settings/acts.ts';
import { cleanDraft, errorsByPath, errorsIn, originsIn } from '../../apps/dashboard/settings/domain-draft.ts';
import { unlistedOrigins } from '../../apps/dashboard/settings/unlisted-origins.ts';
import {
  bodyOf,
  draftOf,
  errorsByField,
  isElsewhere,
  missingIn,
  newDraft,
} from '../../apps/dashboard/webhooks/webhook-draft.ts';
import { type Delivery, isGivenUp, mergeDeliveries } from '../../apps/dashboard/webhooks/webhook-facts.ts';

const now = Date.parse('2026-03-31T12:00:00Z');

describe('periods', () => {
  it.each([
    ['one day', '2026-03-31', '2026-03-30', '2026-03-30', '2026-03-29', '2026-03-29'],
    ['30 days', '2026-03-31', '2026-03-02', '2026-03-31', '2026-01-31', '2026-03-01'],
    ['a whole month', '2026-03-31', '2026-02-01', '2026-02-28', '2026-01-01', '2026-01-31'],
    ['a whole month that ends today', '2026-03-31', '2026-03-01', '2026-03-31', '2026-02-01', '2026-02-28'],
    ['whole months', '2026-03-31', '2025-11-01', '2026-01-31', '2025-08-01', '2025-10-31'],
    ['twelve months so far', '2026-03-31', '2025-04-01', '2026-03-31', '2024-04-01', '2025-03-31'],
    ['a month so far', '2026-03-20', '2026-03-01', '2026-03-20', '2026-02-01', '2026-02-20'],
    ['a month so far that has more days', '2026-03-30', '2026-03-01', '2026-03-30', '2026-02-01', '2026-02-28'],
    ['the beginning of a month that went on', '2026-03-31', '2026-02-01', '2026-02-10', '2026-01-22', '2026-01-31'],
    // with as many days, and no day lies between
    ['many months so far', '2026-03-20', '2025-04-01', '2026-03-20', '2024-04-12', '2025-03-31'],
  ])('%s on %s is compared with what is like it', (_, today, from, to, beforeFrom, beforeTo) => {
    const before = periodBefore({ from, to }, Date.parse(`${today}T01:00:00Z`));
    expect(before).toEqual({ from: beforeFrom, to: beforeTo });
  });

  it.each([
    ['the previous day', '2026-03-31', '2026-03-31'],
    ['the previous 30 days', '2026-03-02', '2026-03-31'],
    ['the previous month', '2026-02-01', '2026-02-28'],
    ['the previous 3 months', '2025-11-01', '2026-01-31'],
    ['the previous month', '2026-03-01', '2026-03-30'],
    ['the same days of the previous month', '2026-03-01', '2026-03-20'],
  ])('%s came before', (name, from, to) => {
    const period = { from, to };
    const before = periodBefore(period, Date.parse(`${to}T01:00:00Z`));
    expect(before && nameOfPrevious(before, period)).toBe(name);
  });

  it.each([
    'from=2026-02-02',
    'from=2026-03-01&to=2026-02-01',
    'from=1999-01-01&to=1999-01-02',
    'from=2026-02-30&to=x',
  ])('an address with %s names none', (query) => {
    expect(periodIn(new URLSearchParams(query))).toBeNull();
  });

  it('nothing is compared with days before those that are counted', () => {
    expect(periodBefore({ from: '2000-01-05', to: '2000-01-20' }, now)).toBeNull();
  });

  it('the ready-made ones are UTC, also around midnight', () => {
    const of = (time: string, name: string) => presets(Date.parse(time)).find((each) => each.name === name)?.period;
    expect(of('2026-01-01T00:00:00Z', 'Yesterday')).toEqual({ from: '2025-12-31', to: '2025-12-31' });
    expect(of('2026-01-01T00:00:00Z', 'Last month')).toEqual({ from: '2025-12-01', to: '2025-12-31' });
    expect(of('2026-01-01T00:00:00Z', 'Last quarter')).toEqual({ from: '2025-10-01', to: '2025-12-31' });
    expect(of('2026-12-31T23:59:59Z', 'Last quarter')).toEqual({ from: '2026-07-01', to: '2026-09-30' });
    expect(of('2025-12-31T23:59:59Z', '12 months')).toEqual({ from: '2025-01-01', to: '2025-12-31' });
  });

  it('a chart has no more days or months than the service draws', () => {
    expect(intervalsOf({ from: '2025-01-01', to: '2026-01-01' })).toEqual(['day', 'week', 'month']);
    expect(intervalsOf({ from: '2025-01-01', to: '2026-01-02' })).toEqual(['month']);
    expect(intervalsOf({ from: '2016-01-15', to: '2026-01-02' })).toEqual([]);
    const year = { from: '2025-01-01', to: '2025-12-31' };
    expect(intervalIn(new URLSearchParams(''), year)).toBe('month');
    expect(intervalIn(new URLSearchParams('interval=day'), year)).toBe('day');
  });
});

it('the opt-in rate of several days is of all their choices, not the mean of their rates', () => {
  const days = [{ choices: 1, optInRate: 1 }, { choices: 3, optInRate: 1 / 3 }, { choices: 0, optInRate: null }, {}];
  expect(rateIn(proportionOf(days))).toBe(0.5);
  expect(rateIn(proportionOf(days.slice(2)))).toBeNull();
});

it.each([0, 1, 2, 3, 4, 7, 10, 99, 118, 12_345, 10_000_000])(
  'a chart has round whole lines up to at least %i',
  (highest) => {
    const ticks = countTicks(highest);
    expect(ticks[0]).toBe(0);
    expect(ticks.at(-1)).toBeGreaterThanOrEqual(Math.max(highest, 1));
    expect(ticks.length).toBeLessThanOrEqual(6);
    expect(ticks.every(Number.isInteger)).toBe(true);
  },
);

describe('the stream', () => {
  const record = (id: number, domainId = 'a'): ShortRecord => ({
    id: String(id).padStart(4, '0'),
    domainId,
    decision: 'custom',
    decidedAt: '2026-03-31T00:00:00.000Z',
  });
  const response = (ids: number[], nextCursor: string | null = 'older') =>
    ({ records: ids.map((id) => record(id)), nextCursor }) as OrgStats;
  const ids = (stream: { chunks: ShortRecord[][] }) => stream.chunks.flat().map(({ id }) => Number(id));

  it('puts what is new in front, each once and in order', () => {
    const first = startStream(response([3, 2, 1]));
    const second = mergeLatest(first, response([5, 4, 3, 2, 1]), 5);
    expect(ids(second)).toEqual([5, 4, 3, 2, 1]);
    expect(mergeLatest(second, response([5, 4, 3, 2, 1]), 5)).toBe(second);
    expect([...second.arrived].sort()).toEqual([record(4), record(5)].map(idOf));
  });

  it('knows records of two domains with one id apart', () => {
    const both = { records: [record(1, 'b'), record(1)], nextCursor: null } as unknown as OrgStats;
    expect(mergeLatest(startStream(response([1], null)), both, 5).chunks.flat()).toHaveLength(2);
  });

  it('asks for more where nothing of an answer is known, and then has no hole', () => {
    const first = startStream(response([3, 2, 1]));
    const torn = mergeLatest(first, response([20, 19, 18, 17, 16]), 5);
    expect([torn.hasGap, ids(torn)]).toEqual([true, [3, 2, 1]]);
    const many = Array.from({ length: 20 }, (_, index) => 20 - index);
    const whole = mergeLatest(torn, response(many), 200);
    expect([whole.hasGap, ids(whole)]).toEqual([false, many]);
  });

  it('begins anew where even that is too little: with what continues the newest', () => {
    const first = appendPage(startStream(response([3, 2])), response([1], null));
    const far = Array.from({ length: 200 }, (_, index) => 900 - index);
    const anew = mergeLatest({ ...first, hasGap: true }, response(far, 'newer cursor'), 200);
    expect([ids(anew), anew.cursor, anew.hasGap]).toEqual([far, 'newer cursor', false]);
  });
});

describe('a webhook’s deliveries', () => {
  const [example = expect.fail('no example')] = deliveriesPage.deliveries;
  const tried = (each: number, changed: Partial<Delivery> = {}): Delivery => ({
    ...example,
    messageId: `msg_${each}`,
    ...changed,
  });
  const page = (nextCursor: string | null, ...numbers: number[]) => ({
    deliveries: numbers.map((each) => tried(each)),
    nextCursor,
  });

  it('put the newest in front, and start over where more have come than a page holds', () => {
    expect(mergeDeliveries(page('old', 2, 1), page('new', 4, 3, 2))).toEqual(page('old', 4, 3, 2, 1));
    expect(mergeDeliveries(page('old', 2, 1), page('new', 9, 8))).toEqual(page('new', 9, 8));
    expect(mergeDeliveries(page(null), page('new', 2, 1))).toEqual(page('new', 2, 1));
    // a second try of a message is another one
    const again = { deliveries: [tried(1, { attempt: 2 }), tried(1)], nextCursor: null };
    expect(mergeDeliveries(page(null, 1), again).deliveries).toHaveLength(2);
  });

  it('are the same list where nothing is new', () => {
    for (const known of [page('old', 2, 1), page(null)])
      expect(mergeDeliveries(known, { ...known, nextCursor: 'new' })).toBe(known);
  });

  it('tell a webhook that the service gave up from one that somebody paused', () => {
    const webhook = { ...exampleWebhook, enabled: false, failingSince: '2026-03-31T12:00:00Z' };
    const failed = tried(1, { outcome: 'failed', failure: 'status', status: 500 });
    const test = tried(2, { type: 'webhook.test' });
    expect(isGivenUp(webhook, [test, failed])).toBe(true);
    expect(isGivenUp(webhook, [{ ...failed, nextTryAt: '2026-03-31T13:00:00Z' }])).toBe(false);
    expect(isGivenUp({ ...webhook, failingSince: null }, [test, failed])).toBe(false);
    expect(isGivenUp(webhook, [])).toBe(false);
  });
});

describe('usage of the month', () => {
  const period = { from: '2026-03-02', to: '2026-03-31' };
  const daily = [
    ['2026-02-28', 900],
    ['2026-03-01', 60],
    ['2026-03-31', 40],
  ].map(([date, total]) => ({ date: String(date), total: Number(total) })) as OrgStats['daily'];
  const usage = { month: '2026-03', used: 30, bots: 55, limit: 100 };

  it('follows the daily counters, but for what crawlers have in them', () => {
    expect(currentUsage(usage, { daily, period })).toEqual({ ...usage, used: 45 });
    expect(currentUsage({ ...usage, used: 70 }, { daily, period })).toEqual({ ...usage, used: 70 });
    const before = { ...usage, month: '2026-02' };
    expect(currentUsage(before, { daily, period })).toEqual({ ...usage, used: 100, bots: 0 });
  });
});

describe('the form of a webhook', () => {
  const given = {
    ...{ url: 'https://a.example/', types: ['records.sealed' as const], domains: null, decisions: null },
    ...{ headers: ['authorization'], maxBytes: 20_000 },
  };

  it('sends what it was given, if nothing is changed, and no decisions where no entries are sent', () => {
    const chosen = { ...given, domains: ['dom_1'], decisions: ['withdraw' as const] };
    // whose headers are kept
    for (const body of [given, chosen]) expect({ ...bodyOf(draftOf(body)), headers: given.headers }).toEqual(body);
    expect(bodyOf(draftOf(given)).headers).toBeUndefined();
    const draft = { ...draftOf({ ...given, types: ['limit.reached'] }), decisions: [] };
    expect(missingIn(draft)).toEqual({});
    expect(webhookBody.parse(bodyOf(draft)).decisions).toBeNull();
  });

  it('takes headers a line each, and knows where those that it has will not go', () => {
    const draft = { ...draftOf(given), keepsHeaders: false, headers: ' X-Shop : north: 1\r\n\nauthorization:Bearer x' };
    expect(bodyOf(draft).headers).toEqual({ 'X-Shop': 'north: 1', authorization: 'Bearer x' });
    expect(missingIn(draft)).toEqual({});
    for (const headers of ['x-shop', 'x-shop:', ': north', 'a: 1\nA: 2'])
      expect(Object.keys(missingIn({ ...draft, headers }))).toEqual(['headers']);
    const urls = ['https://a.example/other', 'https://a.example:8443/', 'http://a.example/', 'https:/'];
    expect(urls.map((url) => isElsewhere({ ...draft, url }))).toEqual([false, true, true, false]);
  });

  it('names each field that is empty, and puts what the service finds wrong beside its field', () => {
    const draft = { ...newDraft([]), url: ' ', hasAllDomains: false, decisions: [], maxBytes: '' };
    expect(Object.keys(missingIn(draft))).toEqual(['url', 'types', 'domains', 'maxBytes']);
    expect(Object.keys(missingIn({ ...draft, types: ['records.sealed'], maxBytes: '7' }))).toEqual([
      ...['url', 'domains', 'decisions'],
    ]);
    const errors = [
      { path: '/url', message: 'must be a URL' },
      { path: '/domains/0', message: 'must be 1–64 characters' },
      { path: '/domains/1', message: 'is another' },
      { path: '/headers/host', message: 'is set by the service' },
      { path: '/more', message: 'is not a known parameter' },
    ];
    expect(errorsByField(errors)).toEqual({
      url: 'Must be a URL.',
      domains: 'Must be 1–64 characters.',
      headers: 'host is set by the service.',
    });
  });
});

describe('acts', () => {
  const domains = [{ domainId: 'dom_1', name: 'shop.example' }];
  const organization: Organization = { ...exampleOrganization, organizationId: 'org_1', domains, scopes: ['manage'] };
  it.each<[string, Act['details'], string]>([
    [
      'org.create org_1',
      { name: 'Northwind', plan: 'large' },
      'Created the organization Northwind | on the plan large',
    ],
    ['org.plan org_1', { plan: 'small' }, 'Changed the plan to small'],
    ['domain.create dom_1', { name: 'a.example', origins: [] }, 'Created the domain a.example | any origin may record'],
    ['domain.update dom_1', { name: 'shop.example' }, 'Renamed the domain dom_1 to shop.example'],
    ['domain.update dom_1', { origins: ['https://a'] }, 'Changed the origins of shop.example | Origins: https://a'],
    ['domain.archive dom_1', { keysRevoked: 2 }, 'Archived the domain shop.example | its 2 keys were revoked'],
    ['key.revoke ak_12345678', { domainId: 'dom_1' }, 'Revoked the key ak_12345678… of shop.example'],
    ['records.import dom_1', { importId: 'imp_1', queued: 1200 }, 'Imported 1,200 records into shop.example'],
    ['records.import dom_1', { importId: 'imp_2', queued: 1 }, 'Imported 1 record into shop.example'],
    ['log.read dom_1', { what: 'proof', records: 1 }, 'Read the log of shop.example | 1 record, with proof'],
    ['log.read org_1', { what: 'org-stats', records: 2 }, 'Read the log of all domains | 2 records, the newest ones'],
    ['visitor.erase abc', { domainId: 'dom_1', erasureId: 'er_1' }, 'Erased a visitor of shop.example | er_1'],
    ['webhook.update wh_1', { enabled: false }, 'Paused the webhook wh_1'],
    ['webhook.retry wh_1', { messages: 1 }, 'Retried 1 message to the webhook wh_1'],
    [
      'webhook.replay wh_1',
      { domainId: 'dom_1', log: 1, from: 0 },
      'Replayed shop.example from entry 0 on | to the webhook wh_1',
    ],
    ['something.new x', {}, 'something.new x'],
  ])('%s is told in words', (text, details, expected) => {
    const [act = '', subject = ''] = text.split(' ');
    const { what, more } = describeAct(
      { at: '2026-03-31T12:00:00Z', actor: 'mara', act, subject, details },
      organization,
    );
    const told = [what, more ?? []].map((parts) =>
      parts.map((part) => (typeof part === 'string' ? part : part.name)).join(''),
    );
    expect(told.filter((each) => each !== '').join(' | ')).toBe(expected);
  });

  it('of an erasure lead to its receipt, for whoever may see that', () => {
    const act = {
      ...{ at: '2026-03-31T12:00:00Z', actor: 'olga', act: 'visitor.erase', subject: 'abc' },
      details: { erasureId: 'ers_1' },
    };
    const moreFor = (scopes: Organization['scopes']) => describeAct(act, { ...organization, scopes }).more;
    expect(moreFor(['privacy'])).toEqual(['Receipt: ', { name: 'ers_1', isErasure: true }]);
    expect(moreFor(['manage'])).toEqual([{ name: 'ers_1' }]);
  });
});

describe('what is typed about a domain', () => {
  it('is sent without spaces and empty lines, so that origins have the service\u2019s numbers', () => {
    expect(cleanDraft({ name: ' a ', origins: ['', ' https://a.example ', ' '] })).toEqual({
      name: 'a',
      origins: ['https://a.example'],
    });
    expect(originsIn('https://a.example, https://b.example\n\nhttps://c.example')).toHaveLength(3);
  });

  it('is wrong at its own place', () => {
    const origins = ['https://a.example', 'https://b.example', 'https://a.example', 'ftp://c', 'https://d*.example'];
    expect(errorsIn({ name: '', origins })).toEqual({
      '/name': 'Enter a name.',
      '/origins/2': 'It is on the list already.',
      '/origins/3': 'Not an address of a website, such as https://www.example.com.',
      '/origins/4': 'A * stands for subdomains only, such as https://*.example.com.',
    });
    const errors = [
      { path: '/origins/1', message: 'must be an origin' },
      { path: '/other', message: 'is not known' },
    ];
    expect(errorsByPath(errors)).toEqual({ '/origins/1': 'Must be an origin.' });
  });
});

describe('an address that is typed', () => {
  it.each([
    ['http://127.0.0.1:3795/', 'http://127.0.0.1:3795'],
    ['blumen-meier.de', 'https://blumen-meier.de'],
    ['blumen-meier.de:8443', 'https://blumen-meier.de:8443'],
    ['www.shop.example/path?x', 'https://www.shop.example'],
    [' HTTPS://Shop.Example:443#top ', 'https://shop.example'],
    ['http://shop.example:80', 'http://shop.example'],
    ['localhost:3000/x', 'http://localhost:3000'],
    ['localhost:443', 'http://localhost:443'],
    ['127.0.0.1', 'http://127.0.0.1'],
    ['[::1]:80', 'http://[::1]'],
    ['https://intranet', 'https://intranet'],
    ['*.Shop.Example/', 'https://*.shop.example'],
    ['http://*.shop.example:8080/x', 'http://*.shop.example:8080'],
    ['Bücher.example', 'https://xn--bcher-kva.example'],
    ['https://*.bücher.example', 'https://*.xn--bcher-kva.example'],
    ['capacitor://localhost/x', 'capacitor://localhost'],
  ])('%s means %s', (text, origin) => {
    expect(originFrom(text)).toBe(origin);
  });

  it.each([
    ['no address', '', 'null', 'shop', 'shop example.com', 'shop\u202eelpmaxe.example', 'https://shop.example:99999'],
    ['another scheme', 'ftp://shop.example', 'file:///x', 'javascript:alert(1)', 'mailto:info@shop.example'],
    ['somebody’s', 'info@shop.example', 'https://user:secret@shop.example'],
    ['a * elsewhere', 'https://*.com', '*', '*.localhost', '*.127.0.0.1'],
    ['a * within', 'https://w*.example.com', 'https://www.*.example.com', 'https://*.*.example.com'],
  ])('is none of a website where it is %s', (_, ...texts) => {
    expect(texts.filter((text) => originFrom(text) !== undefined)).toEqual([]);
  });
});

describe('the origins of the newest records', () => {
  const of = (...pages: (string | null)[]) => pages.map((pageUrl) => ({ pageUrl }));

  it('are counted, the most frequent first, as browsers send them', () => {
    const pages = [
      'https://B.example:443/x?y#z',
      'http://a.example:8080/',
      'https://b.example/',
      'tauri://localhost/x',
    ];
    expect(unlistedOrigins(of(...pages, null), [])).toEqual([
      { origin: 'https://b.example', records: 2 },
      { origin: 'http://a.example:8080', records: 1 },
      { origin: 'tauri://localhost', records: 1 },
    ]);
  });

  it('are left out where the list has them, by a wildcard too', () => {
    const records = of('https://shop.example/', 'https://a.b.shop.example/', 'https://shop.example.evil/');
    expect(unlistedOrigins(records, ['https://*.shop.example'])).toEqual([
      { origin: 'https://shop.example', records: 1 },
      { origin: 'https://shop.example.evil', records: 1 },
    ]);
    expect(unlistedOrigins(records, ['https://*.shop.example', 'https://shop.example'])).toHaveLength(1);
  });

  it('are those that could be on a list, and at most ten', () => {
    expect(unlistedOrigins(of('', '/path', 'data:text/html,x', 'file:///x', 'javascript:alert(1)'), [])).toEqual([]);
    const many = Array.from({ length: 30 }, (_, each) => `https://site-${each}.example/`);
    expect(unlistedOrigins(of(...many), [])).toHaveLength(10);
  });
});

it('every field that describes a record is on the pages that show one', () => {
  const shownOtherwise =
    'id domainId decision decidedAt receivedAt visitorId preferences source metadata notice bot erasedAt log position';
  const described = Object.keys(fullRecord.shape).filter((field) => !shownOtherwise.split(' ').includes(field));
  const shown = (field: string, value: unknown) => fieldsOf({ ...example, [field]: value });
  const some = (field: string) => (field === 'model' ? 'opt_out' : 'x');
  expect(described.filter((field) => shown(field, null).join() === shown(field, some(field)).join())).toEqual([]);
});
