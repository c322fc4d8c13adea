/** The head of a column by which a table can be sorted. A second click turns the order around. */
import './sort-head.css';
import type { ComponentChildren } from 'preact';
import type { Sort } from '../data/sorted.ts';

export function SortHead<Column extends string>({
  column,
  sort,
  setSort,
  isText = false,
  children,
}: {
  column: Column;
  sort: Sort<Column> | null;
  setSort(sort: Sort<Column>): void;
  /** begins with A, where numbers begin with the largest */
  isText?: boolean;
  children: ComponentChildren;
}) {
  const isCurrent = sort?.by === column;
  return (
    <th
      scope="col"
      class={isText ? undefined : 'number'}
      aria-sort={isCurrent ? (sort.isDescending ? 'descending' : 'ascending') : undefined}
    >
      <button
        type="button"
        class="sort-head"
        onClick={() => setSort({ by: column, isDescending: isCurrent ? !sort.isDescending : !isText })}
      >
        {children}
        <span aria-hidden="true">{isCurrent ? (sort.isDescending ? '↓' : '↑') : '↕'}</span>
      </button>
    </th>
  );
}

/** Of a column of numbers that is not to be sorted by. */
export const NumberHead = ({ class: own = '', children }: { class?: string; children: ComponentChildren }) => (
  <th scope="col" class={own ? `number ${own}` : 'number'}>
    {children}
  </th>
);
