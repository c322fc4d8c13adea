/** What holds where the visitor is, for the widget: it is asked once for each page that has `regions`. */
import { warn } from '#libs/widget/attempt';
import type { Region } from '#libs/widget/config';
import { toPlace } from '#libs/widget/place-notice';
import { ruleFor } from '#libs/widget/places';
import { has, map, own, some } from '#libs/widget/plain';
import { type Consent, isGiven } from '../consent.ts';
import { gpc } from '../gpc.ts';
import { askAgain } from './ask-again.ts';
import { findPlace } from './find-place.ts';
import type { Parts } from './parts.ts';
import { createTold } from './told.ts';

/** Resolves once it is known, after a second at the latest. Without a rule for it, everybody is asked first. */
export async function locate(parts: Parts): Promise<void> {
  const { settings } = parts;
  try {
    if (!settings.regions) return;
    map(settings.regions, check);
    setPlace(parts, ruleFor(settings.regions, await findPlace(settings)) ?? asking);
  } catch (error) {
    warn(`regions are ignored: ${error}`);
  }
}

/** One rule that is none spoils them all: the visitor would go by the one below. */
function check(rule: Region): void {
  const codes = rule.in === '*' ? [] : rule.in;
  const isRight = has(['opt_in', 'opt_out', 'none'], rule.model) && !some(codes, (code) => !pattern.test(code));
  if (!isRight) throw rule.in;
}
const pattern = /^[A-Z]{2}(-[A-Z\d]{1,3})?$|^EEA$/;

/** Where no rule matches. */
const asking: Region = { in: '*', model: 'opt_in' };

function setPlace({ settings, store, view, decide }: Parts, { model, on = [], maxAgeMonths }: Region): void {
  const { asked, policyVersion, button = 'left' } = settings;
  const isFree = model !== 'opt_in';
  // even of a choice that holds no longer: what was refused does not run again before the visitor answers
  const refusedOnce = (id: string) => own(store.read()?.preferences)[id] === false;
  // where the visitor is asked, a signal speaks for them until they answer
  const running = isFree ? asked : gpc ? [] : map(on, (id) => (refusedOnce(id) ? undefined : id));
  let kept: Consent | null = null;
  const refused = () => map(asked, (id) => (own(kept?.preferences)[id] === false ? id : undefined));

  settings.model = model;
  settings.maxAgeMonths = +(maxAgeMonths ?? 0) || settings.maxAgeMonths;
  settings.before = choiceOf(running, () => true);
  settings.adapt = (notice) =>
    toPlace(notice, settings.wording.texts, { model, on: running }, refused()[0] !== undefined);
  settings.lasting = (old) => {
    const before = own(old.preferences);
    // where everything else runs unasked, any refusal counts as an objection
    const isObjection = (isFree || isUnasked(old)) && some(asked, (id) => before[id] === false);
    return isObjection ? { ...old, preferences: choiceOf(asked, (id) => isFree && before[id] === true) } : null;
  };
  if (!isFree && !isUnasked(store.current(settings))) return;
  const told = isFree && createTold(settings, view);
  if (told) settings.unasked = {};
  settings.tell = (now) => {
    kept = now;
    if (!told) return;
    const isHidden = model === 'none' && !kept;
    settings.button = isHidden ? 'none' : button;
    told(gpc && kept && !isGiven(kept) ? 'honored' : kept || isHidden ? undefined : 'told');
  };
  let isConfirmed = false;
  settings.holds = (choice, make) => {
    const again = map(refused(), (id) => (choice[id] ? id : undefined));
    if (!again[0] || isConfirmed) return false;
    askAgain(view, settings, again, () => {
      isConfirmed = true;
      make();
      isConfirmed = false;
    });
    return true;
  };
  // the signal is an objection, unless the visitor has chosen under it
  const last = store.current(settings);
  if (told && gpc && !(last?.gpc && last.policyVersion === policyVersion)) {
    decide(false, 'gpc');
    // what is said of it is no choice
    view.say('');
  }
}

/** Made where nobody is asked first. */
const isUnasked = (consent: Consent | null): boolean => has(['opt_out', 'none'], consent?.model);

function choiceOf(ids: string[], isAllowed: (id: string) => boolean): Record<string, boolean> {
  const choice = own<boolean>();
  map(ids, (id) => {
    choice[id] = isAllowed(id);
  });
  return choice;
}
