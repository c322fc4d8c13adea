/** Notes what a page does: hosts, names of cookies and keys, elements that should wait, and Google's consent signals. */
import type { CheckStep, ReportedType } from '#libs/widget/site-check';
import { reportedTypes } from '#libs/widget/site-check';
import { consentTypes, eachType } from '../consent-types.ts';
import { cookieNames } from '../forget-cookies.ts';
import { page } from '../page.ts';
import type { Settings } from '../settings.ts';
import type { Notes, State, StepName } from './state.ts';

/** Characters of a name that are kept, and names of each kind. */
const longest = 128;
const most = 400;

const isOurs = (name: string): boolean => /^(?:__Host-)?assent[._]/.test(name);
const add = (list: string[], names: string[]): void => {
  for (const given of names) {
    const name = given.slice(0, longest);
    if (name && !isOurs(name) && !list.includes(name) && list.length < most) list.push(name);
  }
};
const urlOf = (address: string): URL | undefined => {
  try {
    return new URL(address, page.baseURI);
  } catch {
    return undefined;
  }
};

/** The banner or the settings, while they are open. */
export const openBanner = () =>
  page.querySelector('assent-widget')?.shadowRoot?.querySelector<HTMLElement>('dialog[open]');

/** Returns `note`, which looks at the page now, and `turn`, which begins another step on it. */
export function measure(state: State, settings: Settings, isAllowed: (category: string) => boolean) {
  /** `at`: milliseconds since the page's start */
  const turns: { at: number; step: State['now'] }[] = [{ at: 0, step: state.now }];
  const notesAt = (time: number): Notes | undefined => {
    const step = turns.filter(({ at }) => at <= time).at(-1)?.step ?? 'asking';
    return step === 'asking' ? undefined : state.notes[step];
  };
  const now = () => notesAt(performance.now());
  const own = [location.host, urlOf(settings.api)?.host];

  function request(entry: PerformanceEntry): void {
    const notes = notesAt(entry.startTime);
    const url = urlOf(entry.name);
    if (!notes || !url || !/^(?:https?|wss?):$/.test(url.protocol)) return;
    const gcs = url.searchParams.get('gcs');
    if (gcs && /^G1[\d-]{2}$/.test(gcs)) report(notes, url.host, gcs, url.searchParams.get('gcd') ?? '');
    if (own.includes(url.host)) return;
    const known = notes.hosts.find(([host]) => host === url.host);
    if (known) known[1] += 1;
    else notes.hosts.push([url.host.slice(0, 253), 1]);
    if (url.host === 'www.googletagmanager.com') notes.hasContainer = true;
  }
  function report({ google }: Notes, host: string, gcs: string, gcd: string): void {
    const known = google.find((each) => each.host === host && each.gcs === gcs);
    if (known) known.requests += 1;
    else if (google.length < 50) google.push({ host, gcs, gcd: gcd.slice(0, 64), requests: 1 });
  }

  const observer = new PerformanceObserver((list, _, { droppedEntriesCount = 0 } = {}) => {
    for (const entry of list.getEntries()) request(entry);
    const notes = now();
    if (notes && droppedEntriesCount > 0) notes.isIncomplete = true;
  });
  observer.observe({ type: 'resource', buffered: true });
  // a script, image or frame did not load; the event does not bubble
  const failed = ({ target }: Event) => {
    const notes = now();
    const { src } = target as HTMLScriptElement;
    const host = src && urlOf(src)?.host;
    if (notes && host && !own.includes(host)) add(notes.failed, [host]);
  };
  addEventListener('error', failed, true);

  const begun = new Set<StepName>();
  function note(): void {
    for (const entry of observer.takeRecords()) request(entry);
    const step = turns.at(-1)?.step ?? 'asking';
    if (step === 'asking') return;
    const notes = state.notes[step];
    if (!begun.has(step)) notes.pages += 1;
    begun.add(step);
    look(notes);
    lookAtChoice(notes);
  }
  function look(notes: Notes): void {
    add(notes.cookies, cookieNames());
    for (const storage of ['localStorage', 'sessionStorage'] as const) add(notes.storage, keysOf(storage));
    const commands = commandsIn(settings.layer, notes);
    const isKnown = notes.commands.some((each) => each.join() === commands.join());
    // a page's list of commands grows: the longer list replaces the shorter one noted before
    const shorter = notes.commands.findIndex((each) => commands.join().startsWith(each.join()));
    if (!isKnown && commands.length > 0 && shorter >= 0) notes.commands[shorter] = commands;
    else if (!isKnown && commands.length > 0 && notes.commands.length < 10) notes.commands.push(commands);
    if (navigator.serviceWorker?.controller) notes.hasWorker = true;
    if (openBanner()) notes.bannerMs ??= Math.round(performance.now());
  }
  function lookAtChoice(notes: Notes): void {
    notes.allowed = settings.categories.flatMap(({ id }) => (isAllowed(id) ? [id] : []));
    notes.grants = grantsOf(settings, isAllowed);
    let held = 0;
    for (const element of page.querySelectorAll<HTMLElement>('[data-assent]')) {
      const needed = (element.dataset.assent ?? '').split(/[\s,]+/).filter(Boolean);
      if (needed.length === 0 || needed.every(isAllowed)) continue;
      if (!hasRun(element)) held += 1;
      else if (!notes.ran.some((each) => each.element === nameOf(element)) && notes.ran.length < 50)
        notes.ran.push({ element: nameOf(element), categories: needed.join(', ').slice(0, longest) });
    }
    notes.held = Math.max(notes.held, held);
  }

  return {
    note,
    /**
     * `at`: Unix milliseconds of the choice. Requests that the page has sent since then belong to the new step; cookies and
     * keys that are there now belong to the old one.
     */
    turn: (step: State['now'], at = Date.now()) => {
      const ending = now();
      if (ending) look(ending);
      turns.push({ at: Math.min(performance.now(), at - performance.timeOrigin), step });
      state.now = step;
    },
    stop: () => {
      observer.disconnect();
      removeEventListener('error', failed, true);
    },
  };
}

function keysOf(name: 'localStorage' | 'sessionStorage'): string[] {
  try {
    return Object.keys(window[name]);
  } catch {
    return [];
  }
}

const listed = ['default', 'config', 'event', 'update'] as const;

/** Commands are `arguments` objects; Tag Manager's own entries are objects with an event. */
function commandsIn(layer: string | undefined, notes: Notes): CheckStep['commands'][number] {
  const entries = (window as unknown as Record<string, unknown>)[layer || 'dataLayer'];
  if (!Array.isArray(entries)) return [];
  return entries
    .flatMap((entry: Record<PropertyKey, unknown> | null) => {
      if (entry?.event === 'gtm.js') notes.hasContainer = true;
      const [command, what] = [entry?.[0], entry?.[1]];
      const name = listed.find((each) => each === (command === 'consent' ? what : command));
      return name ? [name] : [];
    })
    .slice(0, 50);
}

function grantsOf({ consentMode }: Settings, isAllowed: (category: string) => boolean): ReportedType[] {
  const granted = new Set<string>();
  const types = { ...consentTypes, ...(typeof consentMode === 'object' && consentMode) };
  eachType(types, (type, category) => {
    if (isAllowed(category)) granted.add(type);
  });
  return reportedTypes.filter((type) => granted.has(type));
}

function addressOf(element: HTMLElement): string {
  return ['src', 'href', 'data'].map((name) => element.getAttribute(name) ?? '').find(Boolean) ?? '';
}
function hasRun(element: HTMLElement): boolean {
  if (element.localName === 'script') return /^$|javascript|module/.test(element.getAttribute('type') ?? '');
  // an empty address would resolve to the page's own
  const address = addressOf(element);
  return address !== '' && /^https?:/.test(urlOf(address)?.protocol ?? '');
}
function nameOf(element: HTMLElement): string {
  const { localName, title, id } = element;
  const host = addressOf(element) && urlOf(addressOf(element))?.host;
  const name = element.dataset.assentService || title || id;
  return `${localName}${name && ` “${name}”`} ${host ? `from ${host}` : 'in the page'}`.slice(0, longest);
}
