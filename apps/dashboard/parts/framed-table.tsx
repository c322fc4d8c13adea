import { Table, type TableProps } from './table.tsx';

interface Props<Row> extends TableProps<Row> {
  /** accessible name of the scrolling area, which can be focused */
  label?: string;
}

/** A table that scrolls sideways if it is too wide. */
export function FramedTable<Row>({ label, ...given }: Props<Row>) {
  if (label === undefined)
    return (
      <div class="table-frame">
        <Table {...given} />
      </div>
    );
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling area must be reachable by keyboard
    <section class="table-frame" aria-label={label} tabIndex={0}>
      <Table {...given} />
    </section>
  );
}
