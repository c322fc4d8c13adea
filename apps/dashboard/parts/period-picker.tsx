/** The presets as links, and a form for any two days. */
import './period-picker.css';
import { useLayoutEffect, useState } from 'preact/hooks';
import { isPeriod, type Period, presets } from '../data/periods.ts';
import { now } from '../data/service-clock.ts';
import { useCurrentInView } from './use-current-in-view.ts';

export function PeriodPicker({
  period,
  addressOf,
  navigate,
}: {
  period: Period;
  addressOf(period: Period): string;
  navigate(address: string): void;
}) {
  const [chosen, setChosen] = useState(period);
  const { from, to } = period;
  useLayoutEffect(() => setChosen({ from, to }), [from, to]);
  const chips = useCurrentInView(`${from} ${to}`);
  const isValid = isPeriod(chosen);
  return (
    <div class="period">
      <nav class="chips" aria-label="Period" ref={chips}>
        {presets(now()).map((preset) => (
          <a
            key={preset.name}
            href={addressOf(preset.period)}
            aria-current={preset.period.from === from && preset.period.to === to ? 'true' : undefined}
          >
            {preset.name}
          </a>
        ))}
      </nav>
      <form
        class="range"
        onSubmit={(event) => {
          event.preventDefault();
          if (isValid) navigate(addressOf(chosen));
        }}
      >
        <label>
          From
          <input
            type="date"
            min="2000-01-01"
            max="2100-12-31"
            required
            value={chosen.from}
            onInput={(event) => setChosen({ ...chosen, from: event.currentTarget.value })}
          />
        </label>
        <label>
          to
          <input
            type="date"
            min="2000-01-01"
            max="2100-12-31"
            required
            value={chosen.to}
            onInput={(event) => setChosen({ ...chosen, to: event.currentTarget.value })}
          />
        </label>
        <button type="submit" class="button" disabled={!isValid || (chosen.from === from && chosen.to === to)}>
          Show
        </button>
        {!isValid && chosen.from > chosen.to && chosen.to !== '' && (
          <span class="field-note" role="alert">
            From must not be after To.
          </span>
        )}
      </form>
    </div>
  );
}
