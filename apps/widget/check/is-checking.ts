/** Whether this tab checks the site: it was opened with a ticket, or a check is under way in it. */
import { either } from '#libs/widget/attempt';

export const ticketMark = '#assent-check=';
export const stateKey = 'assent.check';

export const isChecking = (): unknown =>
  either(() => location.hash.startsWith('#assent-check=') || sessionStorage['assent.check']);
