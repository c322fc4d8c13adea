/** The figures of a chart as a table. */
import { useState } from 'preact/hooks';
import type { Figure, Span, Unit } from './scale.ts';

interface Props<Shown extends Span> {
  label: string;
  unit: Unit;
  spans: readonly Shown[];
  figuresOf(span: Shown): readonly Figure[];
}

/** The rows are rendered only when the table is opened. */
export function ChartTable<Shown extends Span>({ label, unit, spans, figuresOf }: Props<Shown>) {
  const [isOpen, setOpen] = useState(false);
  const rows = isOpen ? spans.map((span) => ({ name: span.name, figures: figuresOf(span) })).reverse() : [];
  return (
    <details class="figures" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Show as a table</summary>
      {isOpen && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling area must be reachable by keyboard
        <section class="table-frame" aria-label={`${label}, as a table`} tabIndex={0}>
          <table>
            <caption class="hidden">{label}</caption>
            <thead>
              <tr>
                <th scope="col">{unit} (UTC)</th>
                {rows[0]?.figures.map(({ name }) => (
                  <th key={name} scope="col" class="number">
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.map(({ name, figures }) => (
                <tr key={name}>
                  <th scope="row">{name}</th>
                  {figures.map((figure) => (
                    <td key={figure.name} class="number">
                      {figure.value}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
    </details>
  );
}
