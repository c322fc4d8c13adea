/**
 * Entry of assent-check.js, the fourth file: leads a person with a ticket through the three steps of a site check. It is
 * loaded only in the tab of the check, and nothing is deleted or noted before that person presses Start.
 */
import { findingsOf } from '#libs/widget/site-check';
import { openConsent } from '../consent.ts';
import { cookieNames, forget } from '../forget-cookies.ts';
import type { FileElement } from '../load-file.ts';
import { page } from '../page.ts';
import type { Settings } from '../settings.ts';
import { clearSite } from './clear.ts';
import { interceptRequests } from './intercept.ts';
import { ticketMark } from './is-checking.ts';
import { measure, openBanner } from './measure.ts';
import { type Action, openPanel, type Panel } from './panel.ts';
import { ownersFor, resultOf, store } from './result.ts';
import { forgetState, keep, newState, noNotes, readState, type State, type StepName } from './state.ts';
import { texts } from './texts.ts';

/** Milliseconds between two looks at the page. */
const pace = 300;

function check(settings: Settings): void {
  const panel = openPanel(page.documentElement);
  const state = readState();
  if (state) run(settings, state, panel);
  else if (location.hash.startsWith(ticketMark)) introduce(settings, location.hash.slice(ticketMark.length), panel);
  else {
    forgetState();
    panel.close();
  }
}
export type Check = typeof check;

function introduce({ domain, cookieDomain }: Settings, ticket: string, panel: Panel): void {
  const start = async () => {
    const own = openConsent(domain, cookieDomain).read();
    const state = newState({
      ticket,
      own: own && JSON.stringify(own),
      seen: localStorage.getItem(`assent.${domain}.seen`),
    });
    await clearSite();
    keep(state);
    history.replaceState(history.state, '', location.pathname + location.search);
    location.reload();
  };
  panel.show({
    ...texts.intro(location.host),
    next: ['Start', start],
    others: [['Cancel', panel.close]],
  });
}

function run(settings: Settings, state: State, panel: Panel): void {
  const { assent } = window;
  if (!assent) return;
  interceptRequests(settings, state.startedAt);
  const measuring = measure(state, settings, assent.isAllowed);
  let isOver = false;
  let isWrong = false;
  const look = () => {
    if (isOver) return;
    measuring.note();
    keep(state);
  };
  const end = () => {
    look();
    isOver = true;
    measuring.stop();
    clearInterval(timer);
  };
  /** Reloads the page for a new visitor, who has not chosen yet. */
  const beginAgain = async (now: 'before' | 'asking') => {
    end();
    state.now = now;
    const repeated = now === 'before' ? (['before', 'rejected'] as const) : (['accepted'] as const);
    for (const step of repeated) state.notes[step] = noNotes();
    await clearSite();
    keep(state);
    location.reload();
  };
  const repeat = () => beginAgain(state.now === 'before' || state.now === 'rejected' ? 'before' : 'asking');
  const stop = () => {
    end();
    restore(settings, state);
    location.reload();
  };
  const finish = async () => {
    end();
    restore(settings, state);
    panel.show(texts.sending);
    const result = resultOf(settings, state);
    const owners = await ownersFor(settings, state.ticket, result);
    const steps = result.steps.map((step) => ({
      ...step,
      hosts: step.hosts.map((each) => ({ ...each, known: owners.get(each.host) ?? null })),
    }));
    const { checkId, detail } = await store(settings, state.ticket, result);
    const { api, domain } = settings;
    panel.show({
      ...texts.done(findingsOf(steps), detail),
      copy: checkId ? '' : JSON.stringify({ ...result, steps }, null, 1),
      next: checkId ? ['See it in the dashboard', `${api}/domains/${domain}/checks?check=${checkId}`] : undefined,
      others: [['Close', () => location.reload()]],
    });
  };

  const show = () => {
    const leave: Action = ['Stop the check', stop];
    const choose = (step: 'before' | 'accepted', button: string) =>
      panel.show({ ...texts.choose(step, button), others: [['Open the privacy settings', assent.open], leave] });
    const { accept, reject } = settings.wording.texts;
    const refuse = () => {
      choose('before', reject);
      const banner = openBanner();
      if (banner) banner.focus({ preventScroll: true });
      else assent.open();
    };
    // a browser's opt-out signal refuses before the visitor is asked
    const isRefused = assent.getConsent() && settings.asked.every((id) => !assent.isAllowed(id));
    if (isWrong) panel.show({ ...texts.wrong, next: ['Start this step again', repeat], others: [leave] });
    else if (state.now === 'asking') choose('accepted', accept);
    else {
      const next: Record<StepName, Action> = {
        before: ['Next', isRefused ? () => turn('rejected') : refuse],
        rejected: ['Next', () => beginAgain('asking')],
        accepted: ['Finish', finish],
      };
      const content = state.now === 'before' && isRefused ? texts.signalled : texts[state.now];
      panel.show({ ...content, next: next[state.now], others: [leave] });
    }
  };
  const turn = (step: State['now'], at?: number) => {
    measuring.turn(step, at);
    keep(state);
    show();
  };
  assent.onChange(({ preferences, decidedAt, gpc, model = 'opt_in' }) => {
    if (isOver) return;
    const allowed = settings.asked.filter((id) => preferences[id]);
    const choice = allowed.length === 0 ? 'rejected' : allowed.length === settings.asked.length ? 'accepted' : 'some';
    if (choice === state.now) return;
    // unless the model is `opt_in`, a browser with the opt-out signal refuses by itself
    const isAutomatic = gpc && model !== 'opt_in' && choice === 'rejected' && state.now !== 'accepted';
    if (isAutomatic) return show();
    const expected = state.now === 'before' ? 'rejected' : state.now === 'asking' ? 'accepted' : undefined;
    isWrong = choice !== expected;
    if (choice === 'some' || isWrong) show();
    else turn(choice, Date.parse(decidedAt));
  });
  const timer = setInterval(look, pace);
  addEventListener('pagehide', look);
  look();
  show();
}

/** Replaces the last choice of the check by the person's own. */
function restore({ domain, cookieDomain }: Settings, { own, seen }: State): void {
  forgetState();
  for (const name of cookieNames()) if (name.endsWith(`assent_${domain}`)) forget(name, []);
  for (const name of ['consent', 'seen']) localStorage.removeItem(`assent.${domain}.${name}`);
  if (own) openConsent(domain, cookieDomain).write(JSON.parse(own));
  if (seen) localStorage.setItem(`assent.${domain}.seen`, seen);
}

const script: FileElement<Check> | null = page.currentScript;
if (script) script.file = check;
