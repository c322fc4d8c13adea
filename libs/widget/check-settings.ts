/** Whether settings are those that the widget takes, before they are kept and published. */

export interface SettingFault {
  /** JSON pointer */
  path: string;
  /** why the widget would leave it out */
  message: string;
}

/** `given`: any JSON value. Empty where the widget takes all of it. */
export function checkSettings(given: unknown): SettingFault[] {
  return typeof given === 'object' ? [] : [{ path: '', message: 'is no object' }];
}
