/** A table with sortable columns. */
import './table.css';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { type Sort, sorted } from '../data/sorted.ts';

export interface Column<Row> {
  head: ComponentChildren;
  cell(row: Row): ComponentChildren;
  /** CSS class of the cells */
  class?: string | ((row: Row) => string);
  headClass?: string;
  /** `number` aligns right; `name` is the row's header */
  is?: 'number' | 'name';
  /** value to sort by, and the name of the column while sorted */
  sort?: { by: string; value(row: Row): string | number | null };
}

/** Columns; `false` omits one. */
type Columns<Row> = readonly (Column<Row> | false | null | undefined)[];

const there = <Row,>(columns: Columns<Row>) => columns.flatMap((column) => column || []);
const classOf = (is: Column<unknown>['is'], own = ''): string | undefined =>
  (is === 'number' ? `number ${own}`.trim() : own) || undefined;

export interface TableProps<Row> {
  columns: Columns<Row>;
  rows: readonly Row[];
  keyOf(row: Row): string;
  caption?: string;
  class?: string;
  sorting?: Sorting;
}

interface Sorting {
  sort: Sort<string> | null;
  setSort(sort: Sort<string>): void;
}

/** The rows sorted by the chosen column; unsorted without one. */
export function useSorted<Row>(rows: readonly Row[], columns: Columns<Row>, first: Sort<string> | null = null) {
  const [sort, setSort] = useState(first);
  const by = there(columns).find((column) => column.sort && column.sort.by === sort?.by)?.sort;
  return { rows: sort && by ? sorted(rows, by.value, sort.isDescending) : rows, sorting: { sort, setSort } };
}

export function Table<Row>({ columns: given, rows, keyOf, caption, class: own, sorting }: TableProps<Row>) {
  const columns = there(given);
  return (
    <table class={own}>
      {caption !== undefined && <caption class="hidden">{caption}</caption>}
      <thead>
        <tr>
          {columns.map((column, at) => (
            <Head key={at} column={column} sorting={sorting} />
          ))}
        </tr>
      </thead>
      <tbody>{rows.map((row) => tableRow(columns, row, keyOf))}</tbody>
    </table>
  );
}

/** A second click reverses the order. Names start with A, numbers with the largest. */
function Head<Row>({ column, sorting }: { column: Column<Row>; sorting: Sorting | undefined }) {
  const { head, is, headClass, sort: own } = column;
  const given = { scope: 'col' as const, class: classOf(is, headClass) };
  if (!sorting || !own) return <th {...given}>{head}</th>;
  const { sort, setSort } = sorting;
  const isCurrent = sort?.by === own.by;
  const isDescending = isCurrent && sort.isDescending;
  return (
    <th {...given} aria-sort={isCurrent ? (isDescending ? 'descending' : 'ascending') : undefined}>
      <button
        type="button"
        class="sort-head"
        onClick={() => setSort({ by: own.by, isDescending: isCurrent ? !isDescending : is === 'number' })}
      >
        {head}
        <span aria-hidden="true">{isCurrent ? (isDescending ? '↓' : '↑') : '↕'}</span>
      </button>
    </th>
  );
}

const tableRow = <Row,>(columns: readonly Column<Row>[], row: Row, keyOf: (row: Row) => string) => (
  <tr key={keyOf(row)}>
    {columns.map(({ cell, is, class: own }, at) => {
      const name = classOf(is, typeof own === 'function' ? own(row) : own);
      return is === 'name' ? (
        <th key={at} scope="row" class={name}>
          {cell(row)}
        </th>
      ) : (
        <td key={at} class={name}>
          {cell(row)}
        </td>
      );
    })}
  </tr>
);
