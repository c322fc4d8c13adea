import './decision-name.css';
import type { Decision } from '#libs/base/terms/terms';
import { Swatch } from '../charts/swatch.tsx';
import { decisionNames } from '../data/decisions.ts';

/** The colour and name of a decision. */
export const DecisionName = ({ decision }: { decision: Decision }) => (
  <span class="decision">
    <Swatch decision={decision} />
    {decisionNames[decision]}
  </span>
);
