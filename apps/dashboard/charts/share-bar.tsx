/** The shares of the four decisions as one bar. */
import './share-bar.css';
import type { Breakdown } from '#libs/base/terms/terms';
import { colourOf, decisions } from '../data/decisions.ts';

export function ShareBar({ breakdown, total }: { breakdown: Breakdown; total: number }) {
  return (
    <div class="share-bar" aria-hidden="true">
      {decisions.map((name) =>
        breakdown[name] > 0 ? (
          <span
            key={name}
            style={{ background: colourOf(name), flexGrow: String(breakdown[name] / Math.max(total, 1)) }}
          />
        ) : null,
      )}
    </div>
  );
}
