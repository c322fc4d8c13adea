/** How long a choice lasts, where it counts, and who is told. */
import { Check } from '../parts/check.tsx';
import { Group, type PartProps, TextInput } from './group.tsx';

export function Behaviour({ draft, change }: PartProps) {
  const { maxAgeMonths = 12, cookieDomain = '', consentMode, displays } = draft;
  return (
    <Group title="Behaviour">
      <label>
        Months until visitors are asked again
        <input
          type="number"
          min={1}
          max={120}
          value={maxAgeMonths}
          onInput={({ currentTarget: { valueAsNumber, validity } }) => {
            if (validity.valid && Number.isInteger(valueAsNumber)) change({ maxAgeMonths: valueAsNumber });
          }}
        />
      </label>
      <TextInput
        label="One choice for all subdomains of"
        autocomplete="off"
        spellcheck={false}
        placeholder="example.com"
        aria-describedby="widget-cookie-note"
        value={cookieDomain}
        onText={(text) => change({ cookieDomain: text.replace(/[^A-Za-z0-9.-]/g, '') })}
      />
      <p class="hint" id="widget-cookie-note">
        The choice is then kept in a cookie. Otherwise each host name asks for itself.
      </p>
      <Check checked={consentMode !== false} onChange={(isOn) => change({ consentMode: isOn ? undefined : false })}>
        Tell Google’s tags (Consent Mode v2)
      </Check>
      <Check checked={displays === true} onChange={(isOn) => change({ displays: isOn || undefined })}>
        Count how often the banner is shown, to see how many leave it unanswered
      </Check>
    </Group>
  );
}
