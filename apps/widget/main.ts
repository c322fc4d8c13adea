/** Entry of widget.js: asks for a choice, stores it, signals it to the page and records it. */
import type { Receipt } from '#libs/record/contract';
import { attempt, warn } from '#libs/widget/attempt';
import type { Notice } from '#libs/widget/notice';
import { map, own, some } from '#libs/widget/tamper-proof';
import { type Choice, type Consent, isGiven, openConsent, type StoredConsent } from './consent.ts';
import { consentOf, preferencesOf, reportOf, type Source } from './decision.ts';
import { reportDisplay } from './displays.ts';
import { loadEmbeds } from './embeds.ts';
import type { Shown } from './hash-notice.ts';
import { createScripts } from './held-scripts.ts';
import { openLanguage } from './language.ts';
import { assigned } from './page.ts';
import { onAdded } from './page-elements.ts';
import type { SecondFile } from './preferences.ts';
import { offerApi } from './public-api.ts';
import { createRecordClient } from './record-client.ts';
import { isOn, readSettings } from './settings.ts';
import { createSignals, emit } from './signals.ts';
import { withThirdFile } from './third-file.ts';
import type { PlaceholderNotice } from './view/placeholder.ts';
import { createView } from './view/view.ts';

function start(): void {
  const settings = readSettings();
  const { domain, asked } = settings;
  if (!domain || !settings.key) {
    warn('domain and key are required');
    return;
  }

  const store = openConsent(domain, settings.cookieDomain);
  let current = store.current(settings);
  let inserts: ReturnType<SecondFile['openInserts']> | undefined;
  let hasBegun = false;
  let hasTexts = false;
  /** Whether the page called `open` before the texts had come; the settings then open once they are here. */
  let isOpening = false;

  // first, since the banner waits for its texts
  const language = openLanguage(settings, onWording);
  const client = createRecordClient({ ...settings, onRecorded });
  const view = createView({
    settings,
    consent: () => current ?? settings.unasked,
    seen: () => store.seen(current),
    onShow: client.show,
    onSecond: ({ openInserts }) => {
      inserts = openInserts({ settings, dress: view.dress, onShow: client.show, isAllowed, decide });
      runAllowed();
    },
    decide,
    onPage: language.follow,
  });
  const { signal, greet } = createSignals(settings, isAllowed);
  const runScripts = createScripts(isAllowed, settings.nonce, view.load);
  const callListeners = offerApi({
    getConsent,
    isAllowed,
    open: () => {
      if (hasTexts) view.open();
      else isOpening = true;
    },
    setLanguage: language.choose,
    withdraw: () => {
      if (some(asked, isAllowed) || isGiven(store.read())) decide(false, 'api');
    },
  });
  if (settings.model || (settings.experiment && !current))
    withThirdFile(settings, (prepare) => {
      if (prepare) void prepare({ settings, store, view, decide }, begin);
      else begin();
    });
  else begin();

  function begin(): void {
    current = store.current(settings);
    attempt(() => signal('ready', getConsent()));
    onAdded(() => {
      // each time, since `document.open` removes all listeners; adding one that is still there has no effect
      map(['storage', 'visibilitychange'], (event) => addEventListener(event, followOtherTabs));
      view.stay();
      greet();
      runAllowed();
    });
    hasBegun = true;
    language.reword();
  }

  /** The language has changed, or its texts have come. */
  function onWording(): void {
    if (!hasBegun) return;
    const isFirst = !hasTexts;
    hasTexts = true;
    view.reword();
    inserts?.clear();
    runAllowed();
    if (!isFirst) return;
    if (current ?? settings.unasked) view.close();
    else {
      view.ask();
      if (isOn(settings.displays)) reportDisplay(settings, () => !current);
    }
    if (isOpening) view.open();
  }

  /**
   * `notice` is the notice in which the visitor decides, and `shown` is its text. Both are absent if the page's own code or
   * Global Privacy Control decides.
   */
  function decide(choice: Choice, source: Source, notice?: Notice | PlaceholderNotice, shown?: Shown): void {
    const preferences = preferencesOf(choice, asked);
    if (settings.holds?.(preferences, () => decide(choice, source, notice, shown))) return;
    // the page may have emptied its storage
    const last = store.read() ?? current;
    const made = consentOf(settings, choice, preferences, source, last, notice);
    attempt(() => {
      store.write(made);
      store.keepSeen(made, shown?.text ?? '');
    });
    // applied first: the choice holds on this page whether or not it can be sent
    apply(made, last, !notice);
    attempt(() => client.record(reportOf(settings, made, source, notice), made.id, shown));
    view.say(settings.wording.texts.saved);
  }

  function apply(made: StoredConsent, last: Consent | null, isByCode?: boolean): void {
    current = made;
    attempt(view.close);
    const consent = getConsent();
    attempt(() => signal('change', consent));
    if (consent) callListeners(consent);
    runAllowed();
    void forget(last, isByCode);
  }

  function followOtherTabs(): void {
    const found = store.current(settings);
    if (found && found.at > (current?.at ?? 0)) apply(found, current);
  }

  function runAllowed(): void {
    attempt(() => {
      const waiting = loadEmbeds(isAllowed, settings.nonce);
      if (!hasTexts) return;
      inserts?.show(waiting);
      settings.follow?.(current);
    });
    // last, since these scripts are not ours and may fail
    void runScripts();
  }

  /** Deletes the cookies of categories that are no longer allowed, and reloads the page if the site wants that. */
  async function forget(last: Consent | null, isByCode?: boolean): Promise<void> {
    const before = choiceIn(last);
    const lost = map(settings.categories, (each) =>
      before[each.id] === true && !isAllowed(each.id) ? each : undefined,
    );
    if (!lost[0]) return;
    const file = await view.load();
    attempt(() => file?.forgetCookies(lost, settings.categories, isAllowed));
    // a page that withdraws consent on each load would reload endlessly
    const mayReload = !isByCode || navigator.userActivation?.hasBeenActive;
    if (mayReload && isOn(settings.reload)) location.reload();
  }

  /** The receipt has another id and time if the record client corrected them, because the device's clock was wrong. */
  function onRecorded(receipt: Receipt, id: string): void {
    const right = { id: receipt.id, decidedAt: receipt.decidedAt };
    const stored = store.read();
    if (stored?.id === id) store.write({ ...stored, ...right });
    if (current?.id === id) current = { ...current, ...right };
    emit('recorded', receipt);
  }

  function isAllowed(category: string): boolean {
    return choiceIn(current)[category] ?? some(settings.categories, ({ id, required }) => required && id === category);
  }

  /** The page's markup also names categories, so a name such as `constructor` must not find an inherited member. */
  function choiceIn(consent: Consent | null): Record<string, boolean> {
    return own(consent ? consent.preferences : settings.before);
  }

  function getConsent(): Consent | null {
    if (!current) return null;
    const { at: _, ...consent } = current;
    return { ...consent, preferences: { ...consent.preferences } };
  }
}

// start only once a page; `open` is checked because other code may use `window.assent` for something else
if (typeof assigned('assent')?.open !== 'function') start();
