/** Cells that all tables of groups share: the group over its bar, its decisions and its rate. */
import './group-bar.css';
import type { Dimension } from '#libs/base/terms/terms';
import { colourOf } from '../data/decisions.ts';
import { titleOf } from '../data/dimensions.ts';
import type { Row } from '../data/group-rows.ts';
import { count, share } from '../format.ts';
import { CategoryName } from './category-name.tsx';
import type { Column } from './table.tsx';

/** The bar under a category shows the share that allowed it, under other groups the size relative to the largest. */
export const groupName = (by: Dimension, largest: number): Column<Row> => ({
  head: titleOf(by),
  is: 'name',
  class: 'anywhere',
  sort: { by: 'name', value: ({ name }) => name },
  cell: ({ name, value, count, rate }) => (
    <>
      {by === 'category' && value !== null ? <CategoryName id={value} /> : <bdi>{name}</bdi>}
      {by === 'category' ? <GroupBar share={rate ?? 0} rest={1 - (rate ?? 0)} /> : <GroupBar share={count / largest} />}
    </>
  ),
});

export const decided: Column<Row> = {
  head: 'Decisions',
  is: 'number',
  sort: { by: 'count', value: (row) => row.count },
  cell: (row) => count(row.count),
};

export const groupRate = (by: Dimension): Column<Row> => ({
  head: by === 'category' ? 'Allowed' : 'Opt-in rate',
  is: 'number',
  class: ({ rate }) => (rate === null ? 'muted' : 'strong'),
  sort: { by: 'rate', value: ({ rate }) => rate },
  // where visitors may only object, there are no choices
  cell: ({ rate, objections }) => (rate === null ? (objections ? 'not asked' : 'no choices yet') : share(rate)),
});

/** The size of a group relative to the largest, or the share that allowed a category. */
export const GroupBar = ({ share, rest }: { share: number; rest?: number }) => (
  <span class="group-bar" aria-hidden="true">
    <span
      style={{ background: rest === undefined ? 'var(--brand)' : colourOf('accept_all'), width: `${share * 100}%` }}
    />
    {rest !== undefined && <span style={{ background: colourOf('reject_all'), width: `${rest * 100}%` }} />}
  </span>
);
