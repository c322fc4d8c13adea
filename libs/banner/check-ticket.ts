/**
 * The ticket of a site check. A ticket is for one domain and one result. It names who asked for the check, and every script
 * of the page can read it, so it is encrypted as well as authenticated.
 */
import { hkdfSync } from 'node:crypto';
import { createSecretBox } from '#libs/base/secret-box';
import { notConfigured, Problem } from '#libs/base/terms/problem';
import { makeId } from '#libs/tenants/tenants';

/** milliseconds */
const lifetime = 15 * 60_000;

interface Ticket {
  checkId: string;
  /** who asked for the check: the `actor` of the administrative act */
  actor: string;
  /** Unix milliseconds */
  expiresAt: number;
}

/** `secretsKey`: 32 bytes. Throws a 503 without it. */
function boxUnder(secretsKey: Buffer | undefined) {
  if (!secretsKey)
    throw notConfigured('this installation has no SECRETS_KEY, which encrypts the tickets of site checks');
  return createSecretBox(Buffer.from(hkdfSync('sha256', secretsKey, '', 'assent tickets of site checks', 32)));
}

/** `now`: Unix milliseconds */
export function issueTicket(
  secretsKey: Buffer | undefined,
  { domainId, actor, now }: { domainId: string; actor: string; now: number },
): { ticket: string; expiresAt: string } {
  const expiresAt = now + lifetime;
  const content: Ticket = { checkId: makeId('chk'), actor, expiresAt };
  const sealed = boxUnder(secretsKey).seal(domainId, Buffer.from(JSON.stringify(content)));
  return { ticket: sealed.toString('base64url'), expiresAt: new Date(expiresAt).toISOString() };
}

/** Throws a 401 for a ticket that is forged, too old or another domain's. */
export function readTicket(secretsKey: Buffer | undefined, domainId: string, ticket: string, now: number): Ticket {
  const box = boxUnder(secretsKey);
  const content = opened(() => box.open(domainId, Buffer.from(ticket, 'base64url')));
  if (content && content.expiresAt > now) return content;
  throw new Problem('invalid_ticket', 'the ticket is not one of this domain, or it has expired; start the check again');
}

function opened(open: () => Buffer): Ticket | undefined {
  try {
    return JSON.parse(open().toString());
  } catch {
    return undefined;
  }
}
