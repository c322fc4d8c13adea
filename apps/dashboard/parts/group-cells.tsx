/** What each table of groups has in a row: the group over its bar, and its rate. */
import './group-bar.css';
import type { Dimension } from '#libs/base/terms/terms';
import { colourOf } from '../data/decisions.ts';
import type { Row } from '../data/group-rows.ts';
import { share } from '../format.ts';

interface NameProps {
  by: Dimension;
  row: Row;
  /** decisions of the largest group */
  largest: number;
}

/** Under a category's name is how many allowed it, under any other how large the group is. */
export const GroupName = ({ by, row: { name, count, rate }, largest }: NameProps) => (
  <th scope="row" class="anywhere">
    <bdi>{name}</bdi>
    {by === 'category' ? <GroupBar share={rate ?? 0} rest={1 - (rate ?? 0)} /> : <GroupBar share={count / largest} />}
  </th>
);

export const rateName = (by: Dimension): string => (by === 'category' ? 'Allowed' : 'Opt-in rate');

export const GroupRate = ({ rate }: Pick<Row, 'rate'>) => (
  <td class={rate === null ? 'number muted' : 'number strong'}>{rate === null ? 'no choices yet' : share(rate)}</td>
);

/** How large a group is beside the largest, or which share of it allowed a category. */
export const GroupBar = ({ share, rest }: { share: number; rest?: number }) => (
  <span class="group-bar" aria-hidden="true">
    <span
      style={{ background: rest === undefined ? 'var(--brand)' : colourOf('accept_all'), width: `${share * 100}%` }}
    />
    {rest !== undefined && <span style={{ background: colourOf('reject_all'), width: `${rest * 100}%` }} />}
  </span>
);
