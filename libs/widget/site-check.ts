/**
 * The check of a site: what was noted in each of its three steps, and what that means for the site's owner. Both the panel
 * on the site and the dashboard use these rules.
 */

export const checkSteps = ['before', 'rejected', 'accepted'] as const;
type StepName = (typeof checkSteps)[number];

/** Google's consent types that its requests report in `gcs`. */
export const reportedTypes = ['ad_storage', 'analytics_storage'] as const;
export type ReportedType = (typeof reportedTypes)[number];

/** Who is behind a host: the owner, and the kind by third-party-web, such as `ad` or `cdn`. */
export interface HostOwner {
  owner: string;
  kind: string;
}

export interface CheckStep {
  step: StepName;
  /** pages that were loaded in it */
  pages: number;
  /** categories that were allowed, by the visitor or by the place */
  allowed: string[];
  /** of Google's consent types, those that the allowed categories grant */
  grants: ReportedType[];
  hosts: { host: string; requests: number; known: HostOwner | null }[];
  /** hosts beyond those listed */
  moreHosts: number;
  /** `category`: where the site's settings list the cookie */
  cookies: { name: string; category: string | null }[];
  /** keys of localStorage and sessionStorage */
  storage: string[];
  /** cookies and keys beyond those listed */
  moreNames: number;
  /** elements with `data-assent` that loaded something although their category was not allowed */
  ran: { element: string; categories: string }[];
  /** elements with `data-assent` that waited */
  held: number;
  /** requests that reported Google's consent state */
  google: { host: string; gcs: string; gcd: string; requests: number }[];
  /** `default`, `config`, `event` and `update` of the data layer, in order; pages with the same sequence share a list */
  commands: ('default' | 'config' | 'event' | 'update')[][];
  /** Google's tag or Tag Manager is on the page, so a consent default is needed */
  hasContainer: boolean;
  /** milliseconds until the banner was shown; null: it was not */
  bannerMs: number | null;
  /** hosts whose scripts, images or frames did not load */
  failed: string[];
  /** The browser had more requests than it kept. */
  isIncomplete: boolean;
  /** A service worker of the site handles requests. */
  hasWorker: boolean;
}

export interface Finding {
  level: 'fault' | 'hint' | 'information';
  /** in which it was seen */
  steps: StepName[];
  /** the host, cookie or element that it is about */
  about: string;
  /** what was seen, and when */
  what: string;
  /** what to do */
  advice: string;
}

const when: Record<StepName, string> = {
  before: 'before the visitor chose',
  rejected: 'after “Reject all”',
  accepted: 'after “Accept all”',
};
const advertising = ['ad', 'social'];
const innocent = ['cdn', 'utility', 'hosting', 'tag-manager', 'consent-provider'];
const isGoogle = (known: HostOwner | null): boolean => known?.owner === 'Google';

/** `gcs` is `G1` and a digit for each reported type: 1 is granted. */
export const grantedBy = (gcs: string): ReportedType[] =>
  reportedTypes.filter((_, at) => gcs.startsWith('G1') && gcs[at + 2] === '1');

/** Faults first, then hints, then information; a finding of several steps is listed once. */
export function findingsOf(steps: readonly CheckStep[]): Finding[] {
  const found = new Map<string, Found & { steps: StepName[] }>();
  for (const step of steps) {
    for (const finding of [heldElements, signals, lateDefault, hosts, cookies, blindSpots].flatMap((rule) =>
      rule(step),
    )) {
      const name = [finding.level, finding.about, finding.what('')].join(' ');
      const known = found.get(name);
      if (known) known.steps.push(step.step);
      else found.set(name, { ...finding, steps: [step.step] });
    }
  }
  const all = Array.from(found.values(), ({ what, ...finding }): Finding => {
    const times = finding.steps.map((step) => when[step]);
    return {
      ...finding,
      what: what([times.slice(0, -1).join(', '), ...times.slice(-1)].filter(Boolean).join(' and ')),
    };
  });
  return (['fault', 'hint', 'information'] as const).flatMap((level) => all.filter((each) => each.level === level));
}

interface Found extends Omit<Finding, 'steps' | 'what'> {
  /** `times`: when it was seen */
  what: (times: string) => string;
}

const found = (level: Finding['level'], about: string, what: Found['what'], advice: string): Found => ({
  level,
  about,
  what,
  advice,
});

const heldElements = ({ ran }: CheckStep): Found[] =>
  ran.map(({ element, categories }) =>
    found(
      'fault',
      element,
      (times) => `The ${element} ran ${times}, although it is marked as “${categories}”.`,
      'Give a script type="text/plain", and put the address of a frame or image into data-src instead of src, so that it waits.',
    ),
  );

const signals = ({ step, google, grants }: CheckStep): Found[] =>
  google.map(({ host, gcs }) => {
    const granted = grantedBy(gcs);
    const wrong = step === 'accepted' ? [] : granted.filter((type) => !grants.includes(type));
    if (wrong.length > 0)
      return found(
        'fault',
        host,
        (times) =>
          `Google’s tags reported that consent is granted (${wrong.join(', ')}) ${times}: ${gcs} in a request to ${host}.`,
        'Look for a tag or plugin that sets Consent Mode itself, and remove that part, so that only this banner sets it.',
      );
    if (granted.length > 0)
      return found('information', host, (times) => `Google’s tags reported ${gcs} to ${host} ${times}.`, '');
    return found(
      'information',
      host,
      (times) => `Google’s tags sent requests without consent to ${host} ${times} (${gcs}).`,
      step === 'accepted'
        ? 'After “Accept all” this should change: check that a category grants Google’s consent types.'
        : 'This is how the advanced form of Consent Mode works. Authorities differ on it; hold the tags back if you want none of these requests.',
    );
  });

function lateDefault({ commands, hasContainer }: CheckStep): Found[] {
  const isLate = commands.some((page) => {
    const first = page.findIndex((command) => command === 'config' || command === 'event');
    return first !== -1 && page.indexOf('default') > first;
  });
  if (isLate)
    return [
      found(
        'fault',
        'Consent Mode',
        () => 'Google’s tag was set up before the consent default: the default came too late.',
        'Put consent-mode.js, or the tag of this banner without “defer”, before Google’s tag in the page.',
      ),
    ];
  if (!hasContainer || commands.every((page) => page.includes('default'))) return [];
  return [
    found(
      'hint',
      'Consent Mode',
      () => 'Google’s tag is on the page, but no consent default was set.',
      'Switch Consent Mode on in the settings of the banner, or hold Google’s tag until the visitor agrees.',
    ),
  ];
}

/** Advertising is no fault after “Accept all”, or if the allowed categories grant `ad_storage`, as a place's rule may. */
const mayAdvertise = ({ step, grants }: CheckStep): boolean => step === 'accepted' || grants.includes('ad_storage');

const hosts = (step: CheckStep): Found[] =>
  step.hosts.flatMap(({ host, known }) => {
    // Google's own hosts are judged by what they report
    if (isGoogle(known) && step.google.some((each) => each.host === host)) return [];
    const named = known ? `${host} (${known.owner})` : host;
    const kind = known?.kind ?? '';
    if (advertising.includes(kind) && !isGoogle(known) && !mayAdvertise(step))
      return found(
        'fault',
        host,
        (times) =>
          `The site contacted ${named}, which is known for ${kind === 'ad' ? 'advertising' : 'social media'}, ${times}.`,
        'Find the tag that loads it, and mark it so that it waits for the visitor’s consent.',
      );
    if (step.step === 'accepted') return [];
    return found(
      'hint',
      host,
      (times) => `The site contacted ${named} ${times}.`,
      innocent.includes(kind)
        ? 'Usually this is needed to show the site. Name it in your privacy policy.'
        : 'Decide whether the site needs it. If not, mark its tag so that it waits for consent.',
    );
  });

const cookies = (step: CheckStep): Found[] =>
  step.cookies.flatMap(({ name, category }) => {
    if (category === null)
      return found(
        'hint',
        name,
        (times) => `The cookie ${name} is in none of your lists; it was seen ${times}.`,
        'Find out what sets it, and add it to a service in the settings of the banner.',
      );
    if (step.step === 'accepted' || step.allowed.includes(category)) return [];
    return found(
      'fault',
      name,
      (times) => `The cookie ${name}, which you list under “${category}”, was there ${times}.`,
      'Find the tag that sets it, and mark it so that it waits for consent.',
    );
  });

function blindSpots({ failed, isIncomplete, hasWorker }: CheckStep): Found[] {
  const information = (about: string, what: Found['what'], advice: string) => found('information', about, what, advice);
  const unseen = [
    isIncomplete &&
      information(
        'The browser',
        (times) => `There were more requests than the browser kept ${times}: hosts may be missing.`,
        'Check again on a page that loads less.',
      ),
    hasWorker &&
      information(
        'Service worker',
        (times) => `A service worker of the site handles requests ${times}. What it loads itself cannot be seen.`,
        'Check again in a private window.',
      ),
  ];
  const blocked = failed.map((host) =>
    information(
      host,
      (times) => `This browser blocks ${host}, or the host did not respond, ${times}.`,
      'Switch off extensions that block requests, and check again.',
    ),
  );
  return [...blocked, ...unseen.filter((each) => each !== false)];
}
