/** The count and share of each decision, compared with the period before where there is one. */
import './breakdown-card.css';
import type { Breakdown } from '#libs/contract/terms';
import { decisions, optInFormula, optInMeaning } from '../data/decisions.ts';
import { count, growth, share } from '../format.ts';
import { DecisionName } from './decision-name.tsx';

interface Counted {
  total: number;
  breakdown: Breakdown;
}

/** Also explains the opt-in rate, which is made of these numbers. */
export const BreakdownCard = ({
  now,
  before,
  note,
  isPartDay = false,
}: {
  now: Counted;
  before?: Counted;
  note?: string;
  /** the period is today, so a change against a whole day would mislead */
  isPartDay?: boolean;
}) => (
  <section class="card breakdown-card">
    <header class="card-head">
      <h2>Breakdown</h2>
      {note && <p class="muted">{note}</p>}
    </header>
    {before ? <BreakdownTable now={now} before={before} isPartDay={isPartDay} /> : <BreakdownTable now={now} />}
    <p class="formula muted">
      <strong>Opt-in rate</strong> = {optInFormula}. {optInMeaning}
    </p>
  </section>
);

function BreakdownTable({ now, before, isPartDay }: { now: Counted; before?: Counted; isPartDay?: boolean }) {
  return (
    <table class="breakdown">
      <caption class="hidden">Decisions by kind</caption>
      <thead>
        <tr>
          <th scope="col">Decision</th>
          <th scope="col" class="number">
            Count
          </th>
          <th scope="col" class="number">
            Share
          </th>
          {before && (
            <th scope="col" class="number before">
              Before
            </th>
          )}
          {before && (
            <th scope="col" class="number">
              Change
            </th>
          )}
        </tr>
      </thead>
      <tbody>
        {decisions.map((name) => (
          <tr key={name} data-decision={name}>
            <th scope="row">
              <DecisionName decision={name} />
              <span class="bar" aria-hidden="true">
                <span
                  class={`back-${name}`}
                  style={{ width: `${now.total ? (now.breakdown[name] / now.total) * 100 : 0}%` }}
                />
              </span>
            </th>
            <td class="number strong">{count(now.breakdown[name])}</td>
            <td class="number">{share(now.total ? now.breakdown[name] / now.total : null)}</td>
            {before && <td class="number muted before">{count(before.breakdown[name])}</td>}
            {before && (
              <td class="number">{(!isPartDay && growth(before.breakdown[name], now.breakdown[name])) || '–'}</td>
            )}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
