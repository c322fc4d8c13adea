/** Whether this tab checks the site: its address has a ticket, or a check is under way. */
import { orElse } from '#libs/widget/attempt';

export const ticketMark = '#assent-check=';
export const stateKey = 'assent.check';

export const isChecking = (): unknown =>
  orElse(() => location.hash.startsWith('#assent-check=') || sessionStorage['assent.check']);
