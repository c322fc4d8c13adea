/** How one of the four decisions is marked: by its colour and always by its name too. */
import type { Decision } from '#libs/contract/terms';
import { decisionNames } from '../data/decisions.ts';

export const Swatch = ({ decision }: { decision: Decision }) => <span class={`swatch back-${decision}`} />;

export const DecisionName = ({ decision }: { decision: Decision }) => (
  <span class="decision">
    <Swatch decision={decision} />
    {decisionNames[decision]}
  </span>
);
