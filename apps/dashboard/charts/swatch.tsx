/** The colour of a decision, always shown beside its name. */
import './share-bar.css';
import type { Decision } from '#libs/base/terms/terms';
import { colourOf } from '../data/decisions.ts';

export const Swatch = ({ decision }: { decision: Decision }) => (
  <span class="swatch" style={{ background: colourOf(decision) }} />
);
