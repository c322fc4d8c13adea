/** The colour of a decision. Its name always stands beside it. */
import './swatch.css';
import type { Decision } from '#libs/contract/terms';

export const Swatch = ({ decision }: { decision: Decision }) => <span class={`swatch back-${decision}`} />;
