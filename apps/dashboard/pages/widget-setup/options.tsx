/** One of a few, side by side. */
interface Props<Value extends string> {
  label: string;
  options: readonly { value: Value; name: string }[];
  chosen: Value;
  onChoose(value: Value): void;
  note?: string;
}

export function Options<const Value extends string>({ label, options, chosen, onChoose, note }: Props<Value>) {
  return (
    <fieldset class="widget-options">
      <legend>{label}</legend>
      <div>
        {options.map(({ value, name }) => (
          <label key={value}>
            <input type="radio" name={label} checked={value === chosen} onChange={() => onChoose(value)} />
            {name}
          </label>
        ))}
      </div>
      {note && <p class="hint">{note}</p>}
    </fieldset>
  );
}
