/** The count and share of each decision, compared with the previous period if there is one. */
import './breakdown-card.css';
import type { Breakdown, Decision } from '#libs/base/terms/terms';
import { colourOf, decisions } from '../data/decisions.ts';
import { count, growth, share } from '../format.ts';
import { DecisionName } from './decision-name.tsx';
import { Table } from './table.tsx';

interface Counted {
  total: number;
  breakdown: Breakdown;
}

interface Props {
  now: Counted;
  before?: Counted;
  note?: string;
  /** the period is today: comparing it with a whole day would mislead */
  isPartDay?: boolean;
}

/** Also explains the opt-in rate, which cannot be computed from these numbers alone. */
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

const BreakdownTable = ({ now, before, isPartDay }: { now: Counted; before?: Counted; isPartDay?: boolean }) => (
  <Table
    class="flush breakdown"
    caption="Decisions by kind"
    rows={decisions}
    keyOf={(name) => name}
    columns={[
      {
        head: 'Decision',
        is: 'name',
        cell: (name) => (
          <>
            <DecisionName decision={name} />
            <span class="bar" aria-hidden="true">
              <span style={{ background: colourOf(name), width: `${(shareIn(now, name) ?? 0) * 100}%` }} />
            </span>
          </>
        ),
      },
      { head: 'Count', is: 'number', class: 'strong', cell: (name) => count(now.breakdown[name]) },
      { head: 'Share', is: 'number', cell: (name) => share(shareIn(now, name)) },
      before && {
        head: 'Before',
        is: 'number',
        headClass: 'wide-only',
        class: 'muted wide-only',
        cell: (name) => count(before.breakdown[name]),
      },
      before && {
        head: 'Change',
        is: 'number',
        cell: (name) => (!isPartDay && growth(before.breakdown[name], now.breakdown[name])) || '–',
      },
    ]}
  />
);

const shareIn = ({ total, breakdown }: Counted, name: Decision) => (total ? breakdown[name] / total : null);
