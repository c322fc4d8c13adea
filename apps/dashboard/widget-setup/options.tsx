/** A row of radio buttons. */
import { Check } from '../parts/check.tsx';

interface Props<Value extends string> {
  label: string;
  /** names by value */
  options: Record<Value, string>;
  chosen: NoInfer<Value>;
  onChoose(value: NoInfer<Value>): void;
  note?: string;
}

export function Options<Value extends string>({ label, options, chosen, onChoose, note }: Props<Value>) {
  const values = Object.keys(options) as Value[];
  return (
    <fieldset class="widget-options">
      <legend>{label}</legend>
      <div class="cluster">
        {values.map((value) => (
          <Check key={value} type="radio" name={label} checked={value === chosen} onChange={() => onChoose(value)}>
            {options[value]}
          </Check>
        ))}
      </div>
      {note && <p class="hint">{note}</p>}
    </fieldset>
  );
}
