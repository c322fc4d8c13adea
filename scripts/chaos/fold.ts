/** What a visitor allows, from all stored records one after the other. The API's responses are compared with it. */

export interface Stored {
  id: string;
  receivedAt: Date;
  decision: string;
  preferences: Record<string, boolean> | null;
  policyVersion: string | null;
  model: string | null;
}

export interface Terms {
  validMonths: number | null;
  policyVersion: string | null;
}

interface Held {
  recordId: string | null;
  /** categories that are true, sorted */
  allowed: string[];
  others: boolean;
  valid: boolean;
  reason: string | null;
  validUntil: string | null;
}

const madeAt = (id: string): number => Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16);
export const decidedAt = ({ id, receivedAt }: Pick<Stored, 'id' | 'receivedAt'>): number =>
  Math.min(madeAt(id), receivedAt.getTime());

/** In any order. `now`: Unix milliseconds. */
export function foldOf(records: Stored[], { validMonths, policyVersion }: Terms, now: number): Held {
  let last: Stored | undefined;
  for (const each of records) {
    const difference = last ? decidedAt(each) - decidedAt(last) : 1;
    if (difference > 0 || (difference === 0 && each.id > (last?.id ?? ''))) last = each;
  }
  if (!last) return { recordId: null, allowed: [], others: false, valid: false, reason: 'none', validUntil: null };
  const named = new Map(Object.entries(last.preferences ?? {}));
  const necessary = named.get('necessary') ? ['necessary'] : [];
  const chosen = last.decision === 'accept_all' || last.decision === 'custom';
  const allowed = chosen ? [...named.keys()].filter((name) => named.get(name)).sort() : necessary;
  const others = last.decision === 'accept_all' && named.size === 0;
  const held = { recordId: last.id, allowed, others, valid: true, reason: null, validUntil: null };
  const objects = ['opt_out', 'none'].includes(last.model ?? '') && [...named.values()].includes(false);
  if (objects || (!others && allowed.every((name) => name === 'necessary'))) return held;
  const until = validMonths === null ? null : inMonths(new Date(madeAt(last.id)), validMonths);
  const reason = whyNot();
  const validUntil = until?.toISOString() ?? null;
  return reason
    ? { ...held, allowed: necessary, others: false, valid: false, reason, validUntil }
    : { ...held, validUntil };

  function whyNot(): string | null {
    if (policyVersion !== null && last?.policyVersion !== policyVersion) return 'policy_changed';
    return until && until.getTime() <= now ? 'expired' : null;
  }
}

/** If the month has no such day, its last one, found by going back day by day. */
function inMonths(from: Date, months: number): Date {
  const month = (from.getUTCMonth() + months) % 12;
  const until = new Date(from);
  until.setUTCMonth(from.getUTCMonth() + months);
  while (until.getUTCMonth() !== month) until.setUTCDate(until.getUTCDate() - 1);
  return until;
}
