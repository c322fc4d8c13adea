/** The figures of one day, week or month. */
import type { Figure } from './scale.ts';
import { Swatch } from './swatch.tsx';

/** Pixels. */
const tooltipWidth = 248;
const distance = 18;

interface Props {
  name: string;
  figures: readonly Figure[];
  /** the middle of the day, week or month */
  x: number;
  width: number;
}

/** Placed beside `x`, within the plot. */
export function Tooltip({ name, figures, x, width }: Props) {
  const beside = x > width / 2 ? x - tooltipWidth - distance : x + distance;
  const left = Math.max(0, Math.min(beside, width - tooltipWidth));
  return (
    <div class="tip" style={{ left: `${left}px`, width: `${tooltipWidth}px` }} aria-hidden="true">
      <strong>{name}</strong>
      <dl class="stack gap-4">
        {figures.map(
          (figure) =>
            figure.value && (
              <div key={figure.name}>
                <dt>
                  {figure.decision && <Swatch decision={figure.decision} />}
                  {figure.name}
                </dt>
                <dd>{figure.value}</dd>
              </div>
            ),
        )}
      </dl>
    </div>
  );
}
