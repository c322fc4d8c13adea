/** Applies the rule for the visitor's place, on pages that have `regions`. */
import { warn } from '#libs/widget/attempt';
import type { Region } from '#libs/widget/config';
import { applyPlaceTerms } from '#libs/widget/place-notice';
import { type Place, ruleFor } from '#libs/widget/places';
import { includes, map, own, some } from '#libs/widget/tamper-proof';
import { type Consent, isGiven } from '../consent.ts';
import { gpc } from '../gpc.ts';
import type { Settings } from '../settings.ts';
import { confirmAfterObjection } from './confirm-after-objection.ts';
import { createOptOutNotice } from './opt-out-notice.ts';
import type { Parts } from './parts.ts';

/** Milliseconds that the first view waits for the place. */
const patience = 1_000;

/** Where no rule matches, the visitor is asked first. */
const asking: Region = { in: '*', model: 'opt_in' };

/** Resolves after a second at the latest. */
export async function applyPlace(parts: Parts): Promise<void> {
  const { settings } = parts;
  try {
    if (!settings.regions) return;
    map(settings.regions, check);
    applyRule(parts, ruleFor(settings.regions, await findPlace(settings)) ?? asking);
  } catch (error) {
    warn(`regions are ignored: ${error}`);
  }
}

/** Throws for an invalid rule. If it were skipped, a later rule would apply to the visitor instead. */
function check(rule: Region): void {
  const codes = rule.in === '*' ? [] : rule.in;
  const isRight = includes(['opt_in', 'opt_out', 'none'], rule.model) && !some(codes, (code) => !pattern.test(code));
  if (!isRight) throw rule.in;
}
const pattern = /^[A-Z]{2}(-[A-Z\d]{1,3})?$|^EEA$/;

/** Never rejects. Without a valid response in time, the place is unknown. Only the browser's cache keeps it. */
async function findPlace({ api, domain }: Pick<Settings, 'api' | 'domain'>): Promise<Place> {
  const unknown = { country: null, region: null };
  return new Promise((resolve) => {
    setTimeout(() => resolve(unknown), patience);
    fetch(`${api}/v1/consent/${domain}/place`, { credentials: 'omit' })
      .then(async (response) => {
        const { country, region } = own<unknown>(await response.json());
        resolve(response.ok ? { country: codeIn(country), region: codeIn(region) } : unknown);
      })
      .catch(() => resolve(unknown));
  });
}

const codeIn = (value: unknown): string | null => (typeof value === 'string' ? value : null);

function applyRule({ settings, store, view, decide }: Parts, { model, on = [], maxAgeMonths }: Region): void {
  const { asked, policyVersion, button = 'left' } = settings;
  const isFree = model !== 'opt_in';
  // a refusal counts until the next decision, even after it has expired
  const wasRefused = (id: string) => own(store.read()?.preferences)[id] === false;
  // in places that ask first, the signal refuses everything until the visitor decides
  const running = isFree ? asked : gpc ? [] : map(on, (id) => (wasRefused(id) ? undefined : id));
  let current: Consent | null = null;
  const refused = () => map(asked, (id) => (own(current?.preferences)[id] === false ? id : undefined));

  settings.model = model;
  settings.maxAgeMonths = +(maxAgeMonths ?? 0) || settings.maxAgeMonths;
  settings.before = choiceOf(running, () => true);
  settings.adapt = (notice) =>
    applyPlaceTerms(notice, settings.wording.texts, { model, on: running }, refused()[0] !== undefined);
  settings.lasting = (old) => {
    const before = own(old.preferences);
    // if the model here, or the one that the old choice was made under, is not `opt_in`, any refusal in that choice counts
    // as an objection and lasts
    const isObjection = (isFree || isUnasked(old)) && some(asked, (id) => before[id] === false);
    return isObjection ? { ...old, preferences: choiceOf(asked, (id) => isFree && before[id] === true) } : null;
  };
  if (!isFree && !isUnasked(store.current(settings))) return;
  const showNotice = isFree && createOptOutNotice(settings, view);
  if (showNotice) settings.unasked = {};
  settings.follow = (consent) => {
    current = consent;
    if (!showNotice) return;
    const isHidden = model === 'none' && !current;
    settings.button = isHidden ? 'none' : button;
    showNotice(gpc && current && !isGiven(current) ? 'honored' : current || isHidden ? undefined : 'opt_out');
  };
  let isConfirmed = false;
  settings.holds = (choice, make) => {
    const again = map(refused(), (id) => (choice[id] ? id : undefined));
    if (!again[0] || isConfirmed) return false;
    confirmAfterObjection(view, settings, again, () => {
      isConfirmed = true;
      make();
      isConfirmed = false;
    });
    return true;
  };
  // the signal counts as an objection, unless the visitor's current choice was made while the signal was on and under this
  // policy
  const last = store.current(settings);
  if (showNotice && gpc && !(last?.gpc && last.policyVersion === policyVersion)) {
    decide(false, 'gpc');
    // it is announced by its own notice, not as a saved choice
    view.say('');
  }
}

/** Whether the choice was made under `opt_out` or `none`. */
const isUnasked = (consent: Consent | null): boolean => includes(['opt_out', 'none'], consent?.model);

function choiceOf(ids: string[], isAllowed: (id: string) => boolean): Record<string, boolean> {
  const choice = own<boolean>();
  map(ids, (id) => {
    choice[id] = isAllowed(id);
  });
  return choice;
}
