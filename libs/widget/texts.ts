/**
 * Every text of the widget in English; `languages/` has the translations, under the same names. The dashboard shows them to
 * people who set up a banner.
 */
export const phrases = {
  title: 'Your privacy, your choice',
  intro:
    'This site uses cookies and similar technologies. Some are necessary, others need your consent. You can change your mind at any time.',
  gpc: 'Global Privacy Control is on: everything optional is off.',
  accept: 'Accept all',
  reject: 'Reject all',
  customise: 'Customise',
  save: 'Save choice',
  withdraw: 'Withdraw consent',
  settings: 'Privacy settings',
  close: 'Close',
  always: 'Always on',
  saved: 'Choice saved.',
  policy: 'Privacy policy',
  asks: 'Your consent is asked for:',
  asksBy: '{company} asks for your consent for:',
  noSettings: 'The settings could not be loaded. Decide here, or try again later.',

  // categories, and what each is for
  necessary: 'Necessary',
  necessaryPurpose: 'Needed for this site to work.',
  functional: 'Functional',
  functionalPurpose: 'Remembers your settings.',
  analytics: 'Statistics',
  analyticsPurpose: 'Shows us which pages are visited.',
  marketing: 'Marketing',
  marketingPurpose: 'Advertising based on your interests.',
};

/** Texts for places where nobody is asked first, which only `assent-extras` has. */
export const placePhrases = {
  // words required by American law
  choices: 'Your Privacy Choices',
  honored: 'Opt-out request honored',
  told: 'This site uses cookies and similar technologies. You can opt out of those that are not necessary at any time.',
  allowAgain: 'You have opted out. Do you want to allow this again? {categories}',
  allow: 'Allow again',
  cancel: 'Cancel',
};

/** Texts that only `assent-preferences` has. */
export const furtherPhrases = {
  // in place of a video or a map
  embedText: 'Allow {category} to see this content.',
  showOnce: 'Show once',
  alwaysAllow: 'Always allow {category}',

  lastDecision: 'Your last decision',
  copy: 'Copy',
  whatYouSaw: 'What you were shown',
  serviceList: 'Services',
  servicesOf: 'Services of {category} ({count})',
  serviceProvider: 'Provider',
  serviceUse: 'Purpose',
  cookieList: 'Cookies',
  cookieDuration: 'Storage period',
  youAllowed: 'You allowed {categories} on {date}.',
  youRejected: 'You rejected everything optional on {date}.',
  youWithdrew: 'You withdrew your consent on {date}.',
  notAllowed: 'Not allowed: {categories}',
};
