/** An A/B test. A variant is drawn anew for each page that shows the banner, so nothing is stored before a decision. */
import type { Experiment } from '#libs/widget/config';
import { joined } from './plain.ts';
import type { Settings } from './settings.ts';
import { wordingIn } from './wording.ts';

/** Any other setting could change what is asked for, or where it is recorded. */
const settable = /^(texts|colors|theme|position|button)$/;
/** Two of them with a colon in between are a record's `variant`, which has at most 64 characters. */
const nameable = /^[\w.-]{1,31}$/;

/** The settings with those of a variant. An experiment that is not right is left out. */
export function vary(settings: Settings): Settings {
  try {
    return settings.experiment ? withVariant(settings, settings.experiment) : settings;
  } catch (error) {
    console.warn(`assent: no experiment: ${error}`);
    return settings;
  }
}

function withVariant(settings: Settings, { id, variants }: Experiment): Settings {
  const names = variants.map(({ name }) => name);
  if (![id, ...names].every((name) => nameable.test(name ?? '')) || new Set(names).size < names.length)
    throw 'id or names';
  let sum = 0;
  for (const { share = 1, settings: own } of variants) {
    const other = Object.keys(own ?? {}).find((name) => !settable.test(name));
    if (other) throw `a variant sets ${other}`;
    if (!(Number.isFinite(share) && share >= 0)) throw 'share';
    sum += share;
  }
  let point = ((crypto.getRandomValues(new Uint32Array(1))[0] ?? 0) / 2 ** 32) * sum;
  const drawn = variants.find(({ share = 1 }) => {
    point -= share;
    return point < 0;
  });
  if (!drawn) throw 'no shares';
  const { texts: others = {}, colors, ...look } = drawn.settings ?? {};
  const texts = joined(settings.texts, [others]);
  return {
    ...settings,
    ...look,
    variant: `${id}:${drawn.name}`,
    colors: { ...settings.colors, ...colors },
    texts,
    wording: wordingIn('en', texts),
  };
}
