/** Entry of widget.js: asks for a choice, stores it, signals it to the page and records it. */
import type { Decision } from '#libs/base/terms/terms';
import './public-api.ts';
import { attempt, either } from './attempt.ts';
import { createScripts, onGrowth } from './blocked-scripts.ts';
import { type Choice, type Consent, isGiven, type Kept, openConsent } from './consent.ts';
import { countDisplay } from './displays.ts';
import { vary } from './experiment.ts';
import type { Shown } from './hash-notice.ts';
import { linesOf, type Notice } from './notice.ts';
import { assigned, page } from './page.ts';
import { pageUrl } from './page-url.ts';
import { map, now, own, some } from './plain.ts';
import { createRecordClient, type Report } from './record-client.ts';
import { readSettings } from './settings.ts';
import { createSignals, emit } from './signals.ts';
import { makeId, randomHex } from './uuid.ts';
import { createView } from './view/view.ts';

function start(): void {
  const settings = readSettings();
  const { domain, asked, policyVersion, bannerVersion, wording } = settings;
  if (!domain || !settings.key) {
    console.warn('assent: data-domain and data-key are required');
    return;
  }

  const gpc = navigator.globalPrivacyControl === true;
  const store = openConsent(domain, settings.cookieDomain);
  let kept = store.current(settings);
  const shown = kept ? settings : vary(settings);
  const { variant } = shown;

  const client = createRecordClient({
    ...settings,
    onRecorded: (receipt, id) => {
      // differs where the service corrected a wrong clock
      const right = { id: receipt.id, decidedAt: receipt.decidedAt };
      const stored = store.read();
      if (stored?.id === id) store.write({ ...stored, ...right });
      if (kept?.id === id) kept = { ...kept, ...right };
      emit('recorded', receipt);
    },
  });
  let shownNow: Shown | undefined;
  const view = createView({
    settings: shown,
    gpc,
    consent: () => kept,
    seen: () => store.seen(kept),
    onShow: (notice) => {
      shownNow = client.show(notice);
    },
    decide,
  });

  const getConsent = (): Consent | null => {
    if (!kept) return null;
    const { at: _, ...consent } = kept;
    return { ...consent, preferences: { ...consent.preferences } };
  };
  // markup names categories, too: what every object inherits, such as `constructor`, was never chosen
  const isAllowed = (category: string): boolean => {
    const chosen = own(kept?.preferences)[category];
    if (chosen !== undefined) return chosen === true;
    return some(settings.categories, ({ id, required }) => required && id === category);
  };
  const signal = createSignals(settings.consentMode, isAllowed);
  const runScripts = createScripts(isAllowed);

  /** Without a notice where the page's own code decides. Applied first: what fails afterwards cannot take that back. */
  function decide(choice: Choice, source: 'banner' | 'preferences' | 'api', notice?: Notice): void {
    const preferences = own(typeof choice === 'boolean' ? {} : choice);
    if (typeof choice === 'boolean')
      map(asked, (id) => {
        preferences[id] = choice;
      });
    let some = choice === true;
    let all = true;
    for (const category in preferences) {
      some ||= preferences[category] === true;
      all &&= preferences[category] === true;
    }
    // even an expired choice, such as one under an earlier policy
    const last = store.read();
    const refusal = isGiven(last) ? 'withdraw' : 'reject_all';
    const decision: Decision = !some ? refusal : all ? 'accept_all' : 'custom';
    const at = now();
    const id = makeId(at);
    // other scripts may have stored something else there
    const visitorId = (typeof last?.visitorId === 'string' && last.visitorId) || randomHex(16);
    const decidedAt = either(() => new Date(at).toISOString(), '');
    const made: Kept = { id, decision, preferences, decidedAt, visitorId, policyVersion, gpc, at };
    // a listener may open another view before this one is recorded
    const wasShown = shownNow;
    attempt(() => {
      store.write(made);
      store.keepSeen(made, linesOf(notice).join('\n'));
    });
    apply(made);
    const report: Report = {
      decision,
      preferences,
      source,
      visitorId,
      bannerVersion,
      policyVersion: policyVersion || undefined,
      language: wording.language,
      variant: source === 'api' ? undefined : variant,
      pageUrl: pageUrl(),
      gpc: gpc || undefined,
      metadata: settings.metadata,
    };
    attempt(() => client.record(report, id, wasShown));
    view.say(shown.wording.texts.saved);
  }

  function apply(made: Kept): void {
    kept = made;
    attempt(view.close);
    attempt(() => signal('change', getConsent()));
    // last, since these scripts are not ours and may fail
    void runScripts();
  }

  /** Takes over a choice made in another tab. */
  function follow(): void {
    const found = store.current(settings);
    if (found && found.at > (kept?.at ?? 0)) apply(found);
  }

  window.assent = {
    getConsent,
    open: view.open,
    withdraw: () => {
      if (isGiven(store.read())) decide(false, 'api');
    },
    onChange: (listener) => {
      const hear = ({ detail }: CustomEventInit<Consent>) => detail && listener(detail);
      addEventListener('assent:change', hear);
      return () => removeEventListener('assent:change', hear);
    },
  };
  attempt(() => signal('ready', getConsent()));
  onGrowth(() => {
    view.stay();
    void runScripts();
  });
  addEventListener('storage', follow);
  page.addEventListener('visibilitychange', follow);
  if (kept) view.close();
  else {
    view.ask();
    if (`${settings.displays ?? false}` !== 'false')
      countDisplay(settings, { bannerVersion, variant, language: wording.language }, () => !kept);
  }
}

// other code may use that name for something else
if (typeof assigned('assent')?.open !== 'function') start();
