/** The groups as a sortable table with a CSV download. */
import type { ComponentChildren } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { Dimension } from '#libs/base/terms/terms';
import type { DomainStats } from '#libs/stats/contract';
import { decisionNames, decisions } from '../data/decisions.ts';
import { dimensionNames } from '../data/dimension-names.ts';
import { changeOf, hasDisplays, hasObjections, type Row, rowsOf } from '../data/group-rows.ts';
import { downloadText } from '../download.ts';
import { count, dayRange, points, share } from '../format.ts';
import { Button } from '../parts/button.tsx';
import { FramedTable } from '../parts/framed-table.tsx';
import { decided, groupName, groupRate } from '../parts/group-cells.tsx';
import { type Column, useSorted } from '../parts/table.tsx';
import { groupCsv } from './group-csv.ts';

interface Props {
  domainId: string;
  by: Dimension;
  stats: DomainStats;
  before: DomainStats | null;
}

export function GroupTable({ domainId, by, stats, before }: Props) {
  const all = rowsOf(by, stats, before);
  const sum = all.reduce((total, row) => total + row.count, 0);
  const largest = Math.max(1, ...all.map((row) => row.count));
  const isCategory = by === 'category';
  const showsDisplays = all.some(hasDisplays);
  const name = groupName(by, largest);
  const rate = groupRate(by);
  const listed: (Column<Row> | false | null)[] = [
    name,
    decided,
    !isCategory && { head: 'Share', is: 'number', cell: (row) => share(row.count / Math.max(1, sum)) },
    ...decisions.map(
      (name): Column<Row> | false =>
        !isCategory && {
          head: decisionNames[name],
          is: 'number',
          sort: { by: name, value: ({ breakdown }) => breakdown?.[name] ?? null },
          cell: ({ breakdown }) => count(breakdown?.[name] ?? 0),
        },
    ),
    all.some(hasObjections) && {
      head: 'Objections',
      is: 'number',
      sort: { by: 'objections', value: ({ objections }) => objections ?? 0 },
      cell: ({ objections }) => count(objections ?? 0),
    },
    rate,
    before && {
      head: 'Before',
      is: 'number',
      class: 'muted',
      sort: { by: 'before', value: (row) => row.before?.rate ?? null },
      cell: earlier,
    },
    before && {
      head: 'Change',
      is: 'number',
      class: (row) => (changeOf(row)?.isClear ? 'strong' : 'muted'),
      sort: { by: 'change', value: (row) => changeOf(row)?.points ?? null },
      cell: change,
    },
    showsDisplays && {
      head: 'Displays',
      is: 'number',
      cell: ({ displays }) => (displays === undefined ? 'none' : count(displays)),
    },
    showsDisplays && {
      head: 'No-choice rate',
      is: 'number',
      sort: { by: 'noChoice', value: ({ noChoiceRate }) => noChoiceRate ?? null },
      cell: ({ noChoiceRate }) => share(noChoiceRate ?? null),
    },
  ];
  const always: unknown[] = [name, decided, rate];
  const rest = listed.flatMap((each) => (each && !always.includes(each) ? each : []));
  const named = { ...name, cell: (row: Row) => <NamedGroup name={name.cell(row)} rest={rest} row={row} /> };
  const columns = usePhone() ? [named, decided, rate] : listed;
  const { rows, sorting } = useSorted(all, columns, { by: 'count', isDescending: true });
  if (all.length === 0) return <p>No decisions in these days.</p>;
  const title = `Decisions by ${dimensionNames[by]}`;
  return (
    <>
      <FramedTable
        class="group-table"
        caption={title}
        label={title}
        rows={rows}
        keyOf={(row) => row.key}
        columns={columns}
        sorting={sorting}
      />
      <div class="cluster baseline spread groups-foot">
        <p class="muted">
          {before
            ? `Before: ${dayRange(before.from, before.to)}. Change: in percentage points of ${isCategory ? 'the share that allowed' : 'the opt-in rate'}; grey where it may be chance.`
            : 'There is no period before to compare with.'}
        </p>
        <Button
          text="Export CSV"
          onClick={() =>
            downloadText(
              `${domainId}-${by}-${stats.from}-${stats.to}.csv`,
              'text/csv',
              groupCsv(by, rows, before !== null),
            )
          }
        />
      </div>
    </>
  );
}

function earlier({ before }: Row): string {
  if (!before) return 'none';
  return before.rate === null ? 'no choices' : share(before.rate);
}

function change(row: Row) {
  const difference = changeOf(row);
  if (!difference) return '–';
  return (
    <>
      {points(0, difference.points)}
      {!difference.isClear && <span class="hidden"> (may be chance)</span>}
    </>
  );
}

/** On phones, the name unfolds the figures of the other columns. */
const NamedGroup = ({ name, rest, row }: { name: ComponentChildren; rest: readonly Column<Row>[]; row: Row }) => (
  <details class="group-rest">
    <summary>{name}</summary>
    <dl>
      {rest.map(({ head, cell }, at) => (
        <div key={at} class="cluster spread">
          <dt>{head}</dt>
          <dd>{cell(row)}</dd>
        </div>
      ))}
    </dl>
  </details>
);

/** The width at which the stylesheets switch to the phone layout. */
function usePhone(): boolean {
  const narrow = useMemo(() => matchMedia('(max-width: 640px)'), []);
  const [isPhone, setPhone] = useState(narrow.matches);
  useEffect(() => {
    const update = () => setPhone(narrow.matches);
    narrow.addEventListener('change', update);
    return () => narrow.removeEventListener('change', update);
  }, []);
  return isPhone;
}
