/** An invalid setting. Its message is one line that names the setting; the process exits with it. */
export class BadSetting extends Error {}
