/** The four decisions: their order, their names, and the opt-in rate. */
import type { Breakdown, Decision } from '#libs/base/terms/terms';

/** In the order of the stacked chart, from the bottom. */
export const decisions = ['accept_all', 'custom', 'reject_all', 'withdraw'] as const satisfies readonly Decision[];

export const decisionNames: Record<Decision, string> = {
  accept_all: 'Accepted all',
  custom: 'Chose some',
  reject_all: 'Rejected all',
  withdraw: 'Withdrew',
};

/** In charts and beside its name; always with the name. */
export const colourOf = (decision: Decision): string => `var(--${decision})`;

export const isDecision = (text: string | null): text is Decision => decisions.some((each) => each === text);

export const optInFormula = '(accepted all + chose some) ÷ (accepted all + chose some + rejected all)';
export const optInMeaning =
  'Of everyone who was asked and decided, the share that allowed something. Withdrawals come later and are counted separately.';

/** 0 to 1; null where nobody decided. */
export function optInRate({ accept_all, custom, reject_all }: Breakdown): number | null {
  const asked = accept_all + custom + reject_all;
  return asked === 0 ? null : (accept_all + custom) / asked;
}

export function sumOf(buckets: readonly Breakdown[]): Breakdown {
  const sum = { accept_all: 0, reject_all: 0, custom: 0, withdraw: 0 };
  for (const bucket of buckets) for (const name of decisions) sum[name] += bucket[name];
  return sum;
}
