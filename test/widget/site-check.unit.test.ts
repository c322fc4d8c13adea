import { describe, expect, it } from 'vitest';
import { type CheckStep, findingsOf } from '#libs/widget/site-check';

const nothing: CheckStep = {
  step: 'before',
  pages: 1,
  allowed: ['necessary'],
  grants: [],
  hosts: [],
  moreHosts: 0,
  cookies: [],
  storage: [],
  moreNames: 0,
  ran: [],
  held: 0,
  google: [],
  commands: [],
  hasContainer: false,
  bannerMs: 100,
  failed: [],
  isIncomplete: false,
  hasWorker: false,
};
/** Level and subject of each finding. */
const judged = (...steps: Partial<CheckStep>[]) =>
  findingsOf(steps.map((step) => ({ ...nothing, ...step }))).map(({ level, about }) => `${level} ${about}`);

const host = (name: string, owner: string, kind: string) => ({ host: name, requests: 1, known: { owner, kind } });
const facebook = host('connect.facebook.net', 'Facebook', 'social');
const criteo = host('static.criteo.net', 'Criteo', 'ad');
const doubleclick = host('ad.doubleclick.net', 'Google', 'ad');
const report = (gcs: string) => [{ host: 'www.google-analytics.com', gcs, gcd: '', requests: 1 }];

describe('a host', () => {
  it.each(['before', 'rejected'] as const)('for advertising or social media is a fault in the step “%s”', (step) => {
    expect(judged({ step, hosts: [facebook, criteo] })).toEqual([
      'fault connect.facebook.net',
      'fault static.criteo.net',
    ]);
  });

  it('is none after accepting, nor where the place lets advertising run before a choice', () => {
    expect(judged({ step: 'accepted', hosts: [facebook, criteo] })).toEqual([]);
    const free = { allowed: ['necessary', 'marketing'], grants: ['ad_storage' as const] };
    expect(judged({ ...free, hosts: [criteo] })).toEqual(['hint static.criteo.net']);
    // an objection counts there, too
    expect(judged({ step: 'rejected', hosts: [criteo] })).toEqual(['fault static.criteo.net']);
  });

  it('of Google is no fault, whatever its kind', () => {
    expect(judged({ hosts: [doubleclick] })).toEqual(['hint ad.doubleclick.net']);
  });

  it.each(['cdn', 'utility', 'hosting', 'tag-manager', 'consent-provider', 'analytics', 'other'])(
    'of the kind %s is a hint',
    (kind) => {
      expect(judged({ hosts: [host('a.example', 'A', kind)] })).toEqual(['hint a.example']);
    },
  );

  it('that nobody knows is a hint, named once for all steps', () => {
    const unknown = { hosts: [{ host: '__proto__', requests: 1, known: null }] };
    expect(judged(unknown, { step: 'rejected', ...unknown })).toEqual(['hint __proto__']);
  });
});

describe('a cookie', () => {
  const cookies = [{ name: '_ga', category: 'analytics' }];
  it('that the site lists under a category is a fault while that is not allowed', () => {
    expect(judged({ cookies })).toEqual(['fault _ga']);
    expect(judged({ step: 'rejected', cookies })).toEqual(['fault _ga']);
    expect(judged({ cookies, allowed: ['analytics'] })).toEqual([]);
    expect(judged({ step: 'accepted', cookies })).toEqual([]);
  });

  it('that is in no list is a hint', () => {
    expect(judged({ step: 'accepted', cookies: [{ name: '__proto__', category: null }] })).toEqual(['hint __proto__']);
  });
});

describe('what Google was told', () => {
  it.each(['G111', 'G110', 'G101'])('is a fault before a choice and after a refusal where it grants: %s', (gcs) => {
    expect(judged({ google: report(gcs) })).toEqual(['fault www.google-analytics.com']);
    expect(judged({ step: 'rejected', google: report(gcs) })).toEqual(['fault www.google-analytics.com']);
    expect(judged({ step: 'accepted', google: report(gcs) })).toEqual(['information www.google-analytics.com']);
  });

  it('is no fault as far as the place grants it', () => {
    const uk = { allowed: ['analytics'], grants: ['analytics_storage' as const] };
    expect(judged({ ...uk, google: report('G101') })).toEqual(['information www.google-analytics.com']);
    expect(judged({ ...uk, google: report('G111') })).toEqual(['fault www.google-analytics.com']);
  });

  it('is information where it denies, and the host of the request is then no hint', () => {
    const hosts = [host('www.google-analytics.com', 'Google', 'analytics')];
    expect(judged({ hosts, google: report('G100') })).toEqual(['information www.google-analytics.com']);
  });
});

describe('the consent default', () => {
  it.each(['config', 'event'] as const)('is a fault where %s comes before it', (command) => {
    const late = { commands: [['default' as const], [command, 'default' as const]], hasContainer: true };
    expect(judged(late)).toEqual(['fault Consent Mode']);
    // of the page's own making, so it is said once
    expect(judged(late, { step: 'accepted', ...late })).toEqual(['fault Consent Mode']);
  });

  it('is a hint where a container is there without one, and else nothing', () => {
    expect(judged({ commands: [['config']], hasContainer: true })).toEqual(['hint Consent Mode']);
    expect(judged({ commands: [['config']] })).toEqual([]);
    expect(judged({ commands: [['default', 'config', 'event', 'update']], hasContainer: true })).toEqual([]);
  });
});

it('a held element that ran is a fault; what cannot be seen is information; faults come first', () => {
  const ran = [{ element: 'script from pixel.example', categories: 'marketing' }];
  const unseen = { failed: ['blocked.example'], isIncomplete: true, hasWorker: true };
  expect(judged({ ...unseen }, { step: 'rejected', ran })).toEqual([
    'fault script from pixel.example',
    'information blocked.example',
    'information The browser',
    'information Service worker',
  ]);
});

it('what was seen in several steps is said once, with each of them', () => {
  const seen = { hosts: [facebook] };
  const findings = findingsOf([
    { ...nothing, ...seen },
    { ...nothing, ...seen, step: 'rejected' },
  ]);
  expect(findings.map(({ what, steps }) => [what, steps])).toEqual([
    [
      'The site contacted connect.facebook.net (Facebook), which is known for social media, before the visitor chose and after “Reject all”.',
      ['before', 'rejected'],
    ],
  ]);
});
