/** Links for the preset periods, and a form for any two days. */
import './period-picker.css';
import { useLayoutEffect, useState } from 'preact/hooks';
import { isPeriod, type Period, presets } from '../data/periods.ts';
import { navigate } from '../data/router.ts';
import { now } from '../data/service-clock.ts';
import { Button } from './button.tsx';
import { Chips } from './chips.tsx';
import { DayField } from './field.tsx';

export function PeriodPicker({ period, addressOf }: { period: Period; addressOf(period: Period): string }) {
  const [chosen, setChosen] = useState(period);
  const { from, to } = period;
  useLayoutEffect(() => setChosen({ from, to }), [from, to]);
  const isValid = isPeriod(chosen);
  return (
    <div class="cluster spread period">
      <Chips
        label="Period"
        chips={presets(now()).map((preset) => ({
          name: preset.name,
          address: addressOf(preset.period),
          isCurrent: preset.period.from === from && preset.period.to === to,
        }))}
      />
      <form
        class="cluster range"
        onSubmit={(event) => {
          event.preventDefault();
          if (isValid) navigate(addressOf(chosen));
        }}
      >
        <DayField label="From" isInRow value={chosen.from} onDay={(day) => setChosen({ ...chosen, from: day })} />
        <DayField label="to" isInRow value={chosen.to} onDay={(day) => setChosen({ ...chosen, to: day })} />
        <Button text="Show" type="submit" disabled={!isValid || (chosen.from === from && chosen.to === to)} />
        {!isValid && chosen.from > chosen.to && chosen.to !== '' && (
          <span class="field-note" role="alert">
            From must not be after To.
          </span>
        )}
      </form>
    </div>
  );
}
