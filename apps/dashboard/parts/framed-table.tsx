import { Table, type TableProps } from './table.tsx';

interface Props<Row> extends TableProps<Row> {
  /** of what scrolls, for the keyboard: such a table is mostly too wide */
  label?: string;
}

/** A table that scrolls sideways where it is too wide. */
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
