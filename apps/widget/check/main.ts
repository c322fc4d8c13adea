/**
 * Entry of assent-check.js, the fourth file: leads a person with a ticket through the three steps of a site check. It is
 * loaded in the tab of the check alone, and nothing is deleted or noted before that person presses Start.
 */
import { findingsOf } from '#libs/widget/site-check';
import { openConsent } from '../consent.ts';
import { cookieNames, forget } from '../forget-cookies.ts';
import type { FileElement } from '../load-file.ts';
import { page } from '../page.ts';
import type { Settings } from '../settings.ts';
import { answerItself } from './answer.ts';
import { clearSite } from './clear.ts';
import { ticketMark } from './is-checking.ts';
import { measure } from './measure.ts';
import { openPanel, type Panel } from './panel.ts';
import { ownersFor, resultOf, store } from './result.ts';
import { forgetState, keep, newState, noNotes, readState, type State } from './state.ts';
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
    actions: [
      ['Start', start],
      ['Cancel', panel.close],
    ],
  });
}

function run(settings: Settings, state: State, panel: Panel): void {
  const { assent } = window;
  if (!assent) return;
  answerItself(settings, state.startedAt);
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
  /** As a new visitor, who has not chosen yet. */
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
    panel.show({ ...texts.sending, actions: [] });
    const result = resultOf(settings, state);
    const owners = await ownersFor(settings, state.ticket, result);
    const steps = result.steps.map((step) => ({
      ...step,
      hosts: step.hosts.map((each) => ({ ...each, known: owners.get(each.host) ?? null })),
    }));
    const failure = await store(settings, state.ticket, result);
    panel.show({
      ...texts.done(findingsOf(steps), failure),
      ...(failure && { copy: JSON.stringify({ ...result, steps }, null, 1) }),
      actions: [['Close', () => location.reload()]],
    });
  };

  const isRefused = () => settings.asked.every((id) => !assent.isAllowed(id));
  const show = () => {
    const leave: [string, () => void] = ['Stop the check', stop];
    const settingsButton: [string, () => void] = ['Open the privacy settings', assent.open];
    if (isWrong) return panel.show({ ...texts.wrong, actions: [['Start this step again', repeat], leave] });
    // by a signal of the browser, before anything was asked
    const isDecided = state.now === 'before' && assent.getConsent() && isRefused();
    if (isDecided) return panel.show({ ...texts.signalled, actions: [['Go on', () => turn('rejected')], leave] });
    const actions: Record<State['now'], [string, () => void]> = {
      before: settingsButton,
      rejected: ['Next', () => beginAgain('asking')],
      asking: settingsButton,
      accepted: ['Finish', finish],
    };
    panel.show({ ...texts[state.now], actions: [actions[state.now], leave] });
  };
  const turn = (step: State['now'], at?: number) => {
    measuring.turn(step, at);
    keep(state);
    show();
  };
  assent.onChange(({ preferences, decidedAt }) => {
    if (isOver) return;
    const allowed = settings.asked.filter((id) => preferences[id]);
    const choice = allowed.length === 0 ? 'rejected' : allowed.length === settings.asked.length ? 'accepted' : 'some';
    if (choice === state.now) return;
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

/** The person's own choice, in place of the last one of the check. */
function restore({ domain, cookieDomain }: Settings, { own, seen }: State): void {
  forgetState();
  for (const name of cookieNames()) if (name.endsWith(`assent_${domain}`)) forget(name, []);
  for (const name of ['consent', 'seen']) localStorage.removeItem(`assent.${domain}.${name}`);
  if (own) openConsent(domain, cookieDomain).write(JSON.parse(own));
  if (seen) localStorage.setItem(`assent.${domain}.seen`, seen);
}

const script: FileElement<Check> | null = page.currentScript;
if (script) script.file = check;
