/** The count and share of each decision, compared with the period before where there is one. */
import './breakdown-card.css';
import type { Breakdown } from '#libs/base/terms/terms';
import { colourOf, decisions } from '../data/decisions.ts';
import { count, growth, share } from '../format.ts';
import { DecisionName } from './decision-name.tsx';
import { NumberHead } from './sort-head.tsx';

interface Counted {
  total: number;
  breakdown: Breakdown;
}

interface Props {
  now: Counted;
  before?: Counted;
  note?: string;
  /** the period is today, so a change against a whole day would mislead */
  isPartDay?: boolean;
}

/** Also explains the opt-in rate, which is not made of these numbers alone. */
export const BreakdownCard = ({ now, before, note, isPartDay = false }: Props) => (
  <section class="card upright breakdown-card">
    <header class="card-head">
      <h2>Breakdown</h2>
      {note && <p class="muted">{note}</p>}
    </header>
    {before ? <BreakdownTable now={now} before={before} isPartDay={isPartDay} /> : <BreakdownTable now={now} />}
    <p class="hint formula">
      <strong>Opt-in rate</strong> = opt-ins ÷ choices. A choice is a visitor’s own decision to accept, reject or choose
      some; an opt-in allows more than what is necessary. The counts above also include withdrawals, crawlers and
      imports.
    </p>
  </section>
);

function BreakdownTable({ now, before, isPartDay }: { now: Counted; before?: Counted; isPartDay?: boolean }) {
  return (
    <table class="flush breakdown">
      <caption class="hidden">Decisions by kind</caption>
      <thead>
        <tr>
          <th scope="col">Decision</th>
          <NumberHead>Count</NumberHead>
          <NumberHead>Share</NumberHead>
          {before && <NumberHead class="wide-only">Before</NumberHead>}
          {before && <NumberHead>Change</NumberHead>}
        </tr>
      </thead>
      <tbody>
        {decisions.map((name) => (
          <tr key={name} data-decision={name}>
            <th scope="row">
              <DecisionName decision={name} />
              <span class="bar" aria-hidden="true">
                <span
                  style={{
                    background: colourOf(name),
                    width: `${now.total ? (now.breakdown[name] / now.total) * 100 : 0}%`,
                  }}
                />
              </span>
            </th>
            <td class="number strong">{count(now.breakdown[name])}</td>
            <td class="number">{share(now.total ? now.breakdown[name] / now.total : null)}</td>
            {before && <td class="number muted wide-only">{count(before.breakdown[name])}</td>}
            {before && (
              <td class="number">{(!isPartDay && growth(before.breakdown[name], now.breakdown[name])) || '–'}</td>
            )}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
