/** A field for a visitor's id. */
interface Props {
  class?: string;
  value: string;
  onType(text: string): void;
}

export const VisitorField = ({ class: className, value, onType }: Props) => (
  <label class={className}>
    Visitor
    <input
      type="search"
      maxLength={128}
      placeholder="Full visitor id"
      spellcheck={false}
      value={value}
      onInput={(event) => onType(event.currentTarget.value)}
    />
  </label>
);
