/** Each decision as a number and as a share, where a period before it is known also against that. */
import type { Breakdown } from '#libs/contract/terms';
import { decisionNames, decisions, optInFormula, optInMeaning } from '../data/decisions.ts';
import { count, growth, share } from '../format.ts';
import { Swatch } from './decision.tsx';

interface Counted {
  total: number;
  breakdown: Breakdown;
}

/** With the words for the rate that is made of these numbers, once on a page. */
export const BreakdownCard = ({
  now,
  before,
  note,
  isPartDay = false,
}: {
  now: Counted;
  before?: Counted;
  note?: string;
  /** a day that is not over: what was before stands beside it, without a change */
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
              <span class="decision">
                <Swatch decision={name} />
                {decisionNames[name]}
              </span>
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

/** The same as one line of colour. */
export function ShareBar({ breakdown, total }: Counted) {
  return (
    <div class="share-bar" aria-hidden="true">
      {decisions.map((name) =>
        breakdown[name] > 0 ? (
          <span key={name} class={`back-${name}`} style={{ flexGrow: String(breakdown[name] / Math.max(total, 1)) }} />
        ) : null,
      )}
    </div>
  );
}
