/** What went wrong with a request, in words. */
import { AssentError } from '#libs/client/assent-error';

/** A sentence for a failed action. The service's messages start in lower case and have no full stop. */
export function textOf(error: unknown): string {
  if (!(error instanceof AssentError)) return 'Something went wrong.';
  if (error.code === 'plan_feature_required') return 'Your plan does not include the log.';
  if (error.code === 'last_manager')
    return 'Nobody else in your organization may manage domains, keys, webhooks and people. Give that right to somebody else first.';
  if (error.code === 'changed_meanwhile')
    return 'Somebody else changed it in the meantime. Reload the page to see how it is now.';
  return sentence(error.message);
}

/** `must be a URL` → `Must be a URL.` */
export const sentence = (text: string): string =>
  `${text.charAt(0).toUpperCase()}${text.slice(1)}${text.endsWith('.') ? '' : '.'}`;
