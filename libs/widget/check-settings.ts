/** Checks settings before they are stored and published. */
import { categoriesRule, idsOf } from './category-rules.ts';
import { colourNames, isColour, isOpaque } from './colours.ts';
import { experimentRule } from './experiment-rules.ts';
import { linkRule } from './link-rules.ts';
import { regionsRule } from './region-rules.ts';
import {
  below,
  entries,
  flagRule,
  isForbidden,
  isKeyName,
  isObject,
  keyNameRule,
  listOf,
  matching,
  members,
  oneOf,
  type Report,
  type Rule,
  rule,
  text,
} from './setting-rules.ts';
import { languageRule, textsRule } from './text-rules.ts';

export interface SettingFault {
  /** JSON pointer */
  path: string;
  /** why the widget would ignore it */
  message: string;
}

/** The most faults that are returned. */
const most = 100;
/** Characters of a name. */
const longestName = 80;
/** Deeper members are not checked: no setting is nested deeper. */
const deepest = 8;

/** `given`: any JSON value. Returns at most a hundred faults; none if the widget accepts everything. */
export function checkSettings(given: unknown): SettingFault[] {
  const faults: SettingFault[] = [];
  const report: Report = (path, message) => {
    if (faults.length < most) faults.push({ path, message });
  };
  if (!isObject(given)) return [{ path: '', message: 'must be an object' }];
  checkAll(given, '', report);
  // stops here: the paths of further faults could contain the long name
  if (faults.some(({ message }) => message === tooLong)) return faults;
  settingsRule(given)(given, '', report);
  return faults;
}

const tooLong = `has a name of more than ${longestName} characters`;

/**
 * Checks, down to `deepest`, for names that would change a prototype if settings are merged, and for texts that a database
 * cannot store: those with half a surrogate pair or NUL.
 */
function checkAll(value: object, path: string, report: Report, depth = 0): void {
  for (const [name, each] of Object.entries(value)) {
    if (name.length > longestName) report(path, tooLong);
    else if (isForbidden(name)) report(below(path, name), 'is a name that settings cannot have');
    else if (typeof each === 'string' && /[\p{Surrogate}\0]/u.test(each))
      report(below(path, name), 'must be well-formed Unicode without NUL');
    else if (typeof each === 'object' && each && depth < deepest) checkAll(each, below(path, name), report, depth + 1);
  }
}

/** As in an attribute, where the empty text turns the setting on. */
const switchRule = rule(
  (value) => typeof value === 'boolean' || value === '' || isWord(value),
  'must be true or false',
);
const isWord = (value: unknown): boolean => value === 'true' || value === 'false';
const ofTheTag: Rule = (_, path, report) => report(path, 'belongs to the tag: publishing sets it');

const coloursRule: Rule = members(
  Object.fromEntries(
    colourNames.map((name): [string, Rule] => [
      name,
      (value, path, report) => {
        if (typeof value !== 'string' || !isColour(value)) report(path, 'must be a colour, such as #0b5d4b');
        else if (name === 'background' && !isOpaque(value))
          report(path, 'must be opaque: where the page shows through, accepting and rejecting do not look equal');
      },
    ]),
  ),
  [],
  `must be one of ${colourNames.join(', ')}`,
);

const versionRule: Rule = (value, path, report) =>
  text(64)(Number.isSafeInteger(value) ? String(value) : value, path, report);

const monthsRule = rule((value) => {
  const months = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof months === 'number' && Number.isInteger(months) && months >= 1 && months <= 120;
}, 'must be a whole number from 1 to 120');

const consentModeRule: Rule = (value, path, report) => {
  const types = text(64);
  if (typeof value === 'boolean' || isWord(value)) return;
  entries((name, each, at) => {
    if (!isKeyName(name)) report(at, keyNameRule);
    else if (typeof each === 'string') types(each, at, report);
    else listOf(types)(each, at, report);
  })(value, path, report);
};

const metadataRule: Rule = (value, path, report) => {
  entries((name, each, at) => {
    if (!isKeyName(name)) report(at, keyNameRule);
    else if (typeof each === 'number') {
      if (Math.abs(each) > Number.MAX_SAFE_INTEGER) report(at, 'must be a safe number');
    } else if (typeof each !== 'boolean' && each !== '') text(1024)(each, at, report);
  })(value, path, report);
  if (!isObject(value)) return;
  if (Object.keys(value).length > 16) report(path, 'must have at most 16 entries');
  if (new TextEncoder().encode(JSON.stringify(value)).length > 1024) report(path, 'must be at most 1 KiB as JSON');
};

/** Settings that a variant may have, too: they change how the banner looks, not what it asks for. */
const looks = {
  colors: coloursRule,
  darkColors: coloursRule,
  theme: oneOf('auto', 'light', 'dark'),
  position: oneOf('bottom', 'left', 'right', 'center'),
  button: oneOf('left', 'right', 'none'),
  radius: matching(/^\d{1,2}(\.\d+)?px$/, 'must be from 0px to 99px, such as 8px'),
};

function settingsRule({ categories, texts }: Record<string, unknown>): Rule {
  const banner = { ids: idsOf(categories), texts };
  return members(
    {
      ...looks,
      domain: ofTheTag,
      key: ofTheTag,
      api: ofTheTag,
      bannerVersion: ofTheTag,
      lang: languageRule(texts),
      dir: oneOf('ltr', 'rtl'),
      policyUrl: linkRule,
      policyVersion: versionRule,
      cookieDomain: matching(/^[A-Za-z0-9.-]{1,253}$/, 'must be a domain, such as example.com'),
      maxAgeMonths: monthsRule,
      categories: categoriesRule(texts),
      company: text(),
      texts: textsRule(banner),
      links: listOf(members({ label: text(), href: linkRule }, ['label', 'href'])),
      consentMode: consentModeRule,
      metadata: metadataRule,
      displays: switchRule,
      experiment: experimentRule({ ...looks, texts: textsRule(banner, true) }),
      layer: matching(
        /^(?!(?:__proto__|constructor|prototype)$)[A-Za-z_$][\w$]{0,63}$/,
        'must be a name in JavaScript of at most 64 characters',
      ),
      signals: members({ uet: flagRule, clarity: flagRule }),
      reload: switchRule,
      regions: regionsRule(banner.ids, monthsRule),
    },
    [],
    'is no setting of the widget',
  );
}
