/** What each text of the widget is called where somebody writes it. Categories have fields of their own. */

/** Those that visitors see at once, then the others. */
export const first = {
  title: 'Title',
  intro: 'Introduction',
  accept: 'Accept',
  reject: 'Reject',
  customise: 'Customise',
};
export const others = {
  settings: 'Title of the settings',
  save: 'Save',
  withdraw: 'Withdraw',
  always: 'Always on',
  policy: 'Link to the privacy policy',
  saved: 'After a decision (read aloud)',
  lastDecision: 'Last decision',
  copy: 'Copy the receipt',
  close: 'Close (read aloud)',
  gpc: 'Global Privacy Control',
  asks: 'What is asked for',
  asksBy: 'What is asked for, by whom',
  noSettings: 'The settings cannot be loaded',
  embedText: 'In place of a video or map',
  showOnce: 'Show a video or map once',
  alwaysAllow: 'Always show them',
  serviceList: 'Services',
  serviceProvider: 'Provider of a service',
  serviceUse: 'Purpose of a service',
  cookieList: 'Cookies of a service',
  cookieDuration: 'How long cookies are stored',
  youAllowed: 'Receipt: allowed',
  notAllowed: 'Receipt: not allowed',
  youRejected: 'Receipt: rejected',
  youWithdrew: 'Receipt: withdrawn',
};
