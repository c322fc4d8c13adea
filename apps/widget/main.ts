/** Entry of widget.js: asks for a choice, stores it, signals it to the page and records it. */
import type { Decision } from '#libs/base/terms/terms';
import './public-api.ts';
import { attempt, either, warn } from '#libs/widget/attempt';
import type { Notice } from '#libs/widget/notice';
import { has, map, now, own, smaller, some } from '#libs/widget/plain';
import { type Choice, type Consent, isGiven, type Kept, openConsent } from './consent.ts';
import { countDisplay } from './displays.ts';
import { loadEmbeds } from './embeds.ts';
import { onGrowth } from './growth.ts';
import type { Shown } from './hash-notice.ts';
import { createScripts } from './held-scripts.ts';
import { openLanguage } from './language.ts';
import { needExtras } from './need-extras.ts';
import { assigned } from './page.ts';
import { pageUrl } from './page-url.ts';
import type { SecondFile } from './preferences.ts';
import { createRecordClient, type Report } from './record-client.ts';
import { isOn, readSettings } from './settings.ts';
import { createSignals, emit } from './signals.ts';
import { makeId, randomHex, timeOf } from './uuid.ts';
import type { PlaceholderNotice } from './view/placeholder.ts';
import { createView } from './view/view.ts';

function start(): void {
  const settings = readSettings();
  const { domain, asked, policyVersion, bannerVersion } = settings;
  if (!domain || !settings.key) {
    warn('domain and key are required');
    return;
  }

  const gpc = navigator.globalPrivacyControl === true;
  const store = openConsent(domain, settings.cookieDomain);
  let kept = store.current(settings);
  let isWorded = false;
  let onWording = (): void => {};
  // first of all, since the banner waits for it
  const language = openLanguage(settings, () => onWording());

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
  let inserts: ReturnType<SecondFile['openInserts']> | undefined;
  const view = createView({
    settings,
    gpc,
    consent: () => kept ?? settings.unasked,
    seen: () => store.seen(kept),
    onShow: (notice) => {
      shownNow = client.show(notice);
    },
    onSecond: ({ openInserts }) => {
      inserts = openInserts({ settings, dress: view.dress, onShow: client.show, allow });
      runHeld();
    },
    decide,
    onPage: language.look,
  });

  const choiceIn = (consent: Consent | null) => own(consent ? consent.preferences : settings.before);
  // markup names categories, too: what every object inherits, such as `constructor`, was never chosen
  function isAllowed(category: string): boolean {
    const chosen = choiceIn(kept)[category];
    if (chosen !== undefined) return chosen === true;
    return some(settings.categories, ({ id, required }) => required && id === category);
  }
  const getConsent = (): Consent | null => {
    if (!kept) return null;
    const { at: _, ...consent } = kept;
    return { ...consent, preferences: { ...consent.preferences } };
  };
  const { signal, greet } = createSignals(settings, isAllowed);
  const runScripts = createScripts(isAllowed, settings.nonce, view.load);
  /** What a placeholder asks for; the other categories stay as they are. */
  function allow(categories: string[], notice: PlaceholderNotice, about: Shown): void {
    const choice = own<boolean>({});
    map(asked, (id) => {
      choice[id] = isAllowed(id) || has(categories, id);
    });
    decide(choice, 'preferences', notice, about);
  }
  const runHeld = () => {
    attempt(() => {
      const waiting = loadEmbeds(isAllowed, settings.nonce);
      // they come with the second file, and like the banner once there are texts
      if (!isWorded) return;
      inserts?.show(waiting);
      settings.tell?.(kept);
    });
    // last, since these scripts are not ours and may fail
    void runScripts();
  };

  /**
   * Without a notice where the page's own code decides. Applied first: what fails afterwards cannot take that back.
   * `about`: the placeholder that the visitor decides in.
   */
  function decide(
    choice: Choice,
    source: 'banner' | 'preferences' | 'api' | 'gpc',
    notice?: Notice | PlaceholderNotice,
    about?: Shown,
  ): void {
    const preferences = own(typeof choice === 'boolean' ? {} : choice);
    if (typeof choice === 'boolean')
      map(asked, (id) => {
        preferences[id] = choice;
      });
    if (settings.holds?.(preferences, () => decide(choice, source, notice, about))) return;
    const hasSome = choice === true || isGiven({ preferences });
    const isAll = !some(asked, (id) => !preferences[id]);
    // even an expired choice, such as one under an earlier policy; the page may have emptied its storage
    const last = store.read() ?? kept;
    const refusal = isGiven(last) && source !== 'gpc' ? 'withdraw' : 'reject_all';
    const decision: Decision = !hasSome ? refusal : isAll && !about ? 'accept_all' : 'custom';
    const at = now();
    // later than the last one, also where the clock was set back since
    const id = makeId(-smaller(-1 - timeOf(last?.id ?? ''), -at));
    // other scripts may have stored something else there, which the service would leave out of each record
    const known = last?.visitorId;
    const isFine = typeof known === 'string' && either(() => /^[!-~]{1,128}$/.test(known));
    const visitorId = isFine ? known : randomHex(16);
    const decidedAt = either(() => new Date(at).toISOString(), '');
    const made: Kept = {
      id,
      decision,
      preferences,
      decidedAt,
      visitorId,
      policyVersion,
      gpc,
      model: settings.model,
      at,
    };
    // a listener may open another view before this one is recorded
    const wasShown = about ?? shownNow;
    attempt(() => {
      store.write(made);
      store.keepSeen(made, (notice && wasShown?.text) ?? '');
    });
    apply(made, last, !notice);
    const report: Report = {
      decision,
      preferences,
      source,
      visitorId,
      bannerVersion,
      policyVersion: policyVersion || undefined,
      language: notice?.language ?? settings.wording.language,
      variant: notice && settings.variant,
      model: settings.model,
      pageUrl: pageUrl(),
      gpc: gpc || undefined,
      metadata: settings.metadata,
    };
    attempt(() => client.record(report, id, wasShown));
    view.say(settings.wording.texts.saved);
  }

  /** Deletes the cookies of what was allowed before and is not any longer, and loads the page again where that is wanted. */
  async function forget(last: Consent | null, isByCode?: boolean): Promise<void> {
    const before = choiceIn(last);
    const lost = map(settings.categories, (each) =>
      before[each.id] === true && !isAllowed(each.id) ? each : undefined,
    );
    if (!lost[0]) return;
    const file = await view.load();
    attempt(() => file?.forgetCookies(lost, settings.categories, isAllowed));
    // a page that withdraws by itself whenever it is loaded would load again and again
    const mayReload = !isByCode || navigator.userActivation?.hasBeenActive;
    if (mayReload && isOn(settings.reload)) location.reload();
  }

  /** `last`: what was chosen before. */
  function apply(made: Kept, last: Consent | null, isByCode?: boolean): void {
    kept = made;
    attempt(view.close);
    const consent = getConsent();
    attempt(() => signal('change', consent));
    map(changes, (hear) => attempt(() => hear(consent)));
    runHeld();
    void forget(last, isByCode);
  }

  /** Takes over a choice made in another tab. */
  function follow(): void {
    const found = store.current(settings);
    if (found && found.at > (kept?.at ?? 0)) apply(found, kept);
  }

  let changes: ((consent: Consent | null) => void)[] = [];
  /** The page called for the settings before there were texts. */
  let isOpening = false;
  window.assent = {
    getConsent,
    isAllowed,
    open: () => {
      if (isWorded) view.open();
      else isOpening = true;
    },
    setLanguage: language.choose,
    withdraw: () => {
      if (some(asked, isAllowed) || isGiven(store.read())) decide(false, 'api');
    },
    onChange: (listener) => {
      const hear: (typeof changes)[number] = (consent) => consent && listener(consent);
      changes[changes.length] = hear;
      return () => {
        changes = map(changes, (each) => (each === hear ? undefined : each));
      };
    },
  };
  const reword = () => {
    view.word();
    inserts?.clear();
    runHeld();
  };
  const begin = () => {
    kept = store.current(settings);
    attempt(() => signal('ready', getConsent()));
    onGrowth(() => {
      // again and again, since `document.open` removes all listeners; none is added twice
      map(['storage', 'visibilitychange'], (event) => addEventListener(event, follow));
      view.stay();
      greet();
      runHeld();
    });
    onWording = () => {
      onWording = reword;
      isWorded = true;
      reword();
      if (kept ?? settings.unasked) view.close();
      else {
        const { variant, wording } = settings;
        view.ask();
        if (isOn(settings.displays))
          countDisplay(settings, { bannerVersion, variant, language: wording.language }, () => !kept);
      }
      if (isOpening) view.open();
    };
    language.word();
  };
  if (settings.model || (settings.experiment && !kept))
    needExtras(settings, (prepare) => {
      if (prepare) void prepare({ settings, gpc, store, view, decide }, begin);
      else begin();
    });
  else begin();
}

// other code may use that name for something else
if (typeof assigned('assent')?.open !== 'function') start();
