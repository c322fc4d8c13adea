/** The four decisions: their order and their names. */
import type { Decision } from '#libs/base/terms/terms';

/** In the order of the stacked chart, from bottom to top. */
export const decisions = ['accept_all', 'custom', 'reject_all', 'withdraw'] as const satisfies readonly Decision[];

export const decisionNames: Record<Decision, string> = {
  accept_all: 'Accepted all',
  custom: 'Chose some',
  reject_all: 'Rejected all',
  withdraw: 'Withdrew',
};

/** The colour in charts, always shown with the name. */
export const colourOf = (decision: Decision): string => `var(--${decision})`;

export const isDecision = (text: string | null): text is Decision => decisions.some((each) => each === text);
