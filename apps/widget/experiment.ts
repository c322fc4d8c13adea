/** An A/B test. Each page that shows the banner picks a variant at random, so nothing is stored before a decision. */

import { warn } from '#libs/widget/attempt';
import type { Experiment } from '#libs/widget/config';
import { bare, concat, own } from '#libs/widget/tamper-proof';
import type { Settings } from './settings.ts';
import { randomHex } from './uuid.ts';

/** Any other setting could change what the visitor is asked, or where the decision is recorded. */
const settable = /^(texts|colors|darkColors|theme|position|button|radius)$/;
/** A record's `variant` is the experiment's id, a colon and the variant's name; it has at most 64 characters. */
const nameable = /^[\w.-]{1,31}$/;

/** Applies a variant's settings. An invalid experiment is ignored. */
export function vary(settings: Settings): void {
  try {
    if (settings.experiment) setVariant(settings, settings.experiment);
  } catch (error) {
    warn(`no experiment: ${error}`);
  }
}

function setVariant(settings: Settings, { id, variants }: Experiment): void {
  const names = new Set<string>();
  let sum = 0;
  for (const { name, share = 1, settings: given } of variants) {
    for (const set in own(given as Record<string, unknown>)) if (!settable.test(set)) throw `a variant sets ${set}`;
    if (!nameable.test(name ?? '') || share !== +share || share < 0) throw 'name or shares';
    names.add(name);
    sum += share;
  }
  if (!nameable.test(id ?? '') || names.size < variants.length) throw 'id or name';
  let point = (+`0x${randomHex(4)}` / 2 ** 32) * sum;
  const drawn = variants.find(({ share = 1 }) => {
    point -= share;
    return point < 0;
  });
  if (!drawn) throw 'shares';
  const { texts: others = {}, colors, darkColors, theme, position, button, radius } = bare(drawn.settings ?? {});
  const texts = concat(settings.texts, [others]);
  settings.variant = `${id}:${drawn.name}`;
  settings.texts = texts;
  settings.colors = { ...settings.colors, ...(radius && { radius }), ...colors };
  settings.darkColors = { ...settings.darkColors, ...darkColors };
  if (theme) settings.theme = theme;
  if (position) settings.position = position;
  if (button) settings.button = button;
}
