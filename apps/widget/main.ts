/** Entry of widget.js: asks for a choice, stores it, signals it to the page and records it. */
import type { Decision } from '#libs/base/terms/terms';
import './public-api.ts';
import { attempt } from './attempt.ts';
import { createScripts, onGrowth } from './blocked-scripts.ts';
import { type Choice, type Consent, isGiven, type Kept, openConsent } from './consent.ts';
import { countDisplay } from './displays.ts';
import { vary } from './experiment.ts';
import { linesOf, type Notice } from './notice.ts';
import { assigned, page } from './page.ts';
import { pageUrl } from './page-url.ts';
import { createRecordClient } from './record-client.ts';
import { readSettings } from './settings.ts';
import { createSignals, emit } from './signals.ts';
import { randomHex, timeOf } from './uuid.ts';
import { createView } from './view/view.ts';

function start(): void {
  const script = page.currentScript;
  const settings = readSettings(script instanceof HTMLScriptElement ? script : null);
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
  const view = createView({
    settings: shown,
    gpc,
    consent: () => kept,
    seen: () => store.seen(kept),
    onShow: client.show,
    decide,
  });

  const getConsent = (): Consent | null => {
    if (!kept) return null;
    const { at: _, ...consent } = structuredClone(kept);
    return consent;
  };
  // markup names categories, too: what every object inherits, such as `constructor`, was never chosen
  const isAllowed = (category: string) =>
    kept && Object.hasOwn(kept.preferences, category)
      ? kept.preferences[category] === true
      : settings.categories.some(({ id, required }) => required && id === category);
  const signal = createSignals(settings.consentMode, isAllowed);
  const runScripts = createScripts(isAllowed);

  /** Without a notice where the page's own code decides. */
  function decide(choice: Choice, source: 'banner' | 'preferences' | 'api', notice?: Notice): void {
    const preferences = typeof choice === 'boolean' ? Object.fromEntries(asked.map((id) => [id, choice])) : choice;
    const chosen = Object.values(preferences);
    // even an expired choice, such as one under an earlier policy
    const last = store.read();
    const refusal = isGiven(last) ? 'withdraw' : 'reject_all';
    const isRefusal = choice !== true && !chosen.includes(true);
    const decision: Decision = isRefusal ? refusal : chosen.includes(false) ? 'custom' : 'accept_all';
    // other scripts may have stored something else there
    const visitorId = last?.visitorId?.trim?.() || randomHex(16);
    const id = client.record({
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
      // metadata that is not JSON must not stop the record
      metadata: attempt(() => (JSON.stringify(settings.metadata) ? settings.metadata : undefined)),
    });
    const at = timeOf(id);
    const decidedAt = new Date(at).toISOString();
    const made: Kept = { id, decision, preferences, decidedAt, visitorId, policyVersion, gpc, at };
    store.write(made);
    store.keepSeen(made, linesOf(notice).join('\n'));
    apply(made);
    view.say(shown.wording.texts.saved);
  }

  function apply(made: Kept): void {
    kept = made;
    view.close();
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
  onGrowth(runScripts);
  addEventListener('storage', follow);
  page.addEventListener('visibilitychange', follow);
  if (kept) view.close();
  else {
    view.ask();
    if (String(settings.displays ?? false) !== 'false')
      countDisplay(settings, { bannerVersion, variant, language: wording.language }, () => !kept);
  }
}

// other code may use that name for something else
if (typeof assigned('assent')?.open !== 'function') start();
