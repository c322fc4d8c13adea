/** How long a choice lasts, where it counts, and who is told. */
import { Group, type PartProps } from './group.tsx';

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
      <label>
        One choice for all subdomains of
        <input
          type="text"
          autocomplete="off"
          spellcheck={false}
          placeholder="example.com"
          aria-describedby="widget-cookie-note"
          value={cookieDomain}
          onInput={({ currentTarget }) => change({ cookieDomain: currentTarget.value.replace(/[^A-Za-z0-9.-]/g, '') })}
        />
      </label>
      <p class="hint" id="widget-cookie-note">
        The choice is then kept in a cookie. Otherwise each host name asks for itself.
      </p>
      <label class="widget-check">
        <input
          type="checkbox"
          checked={consentMode !== false}
          onChange={({ currentTarget }) => change({ consentMode: currentTarget.checked ? undefined : false })}
        />
        Tell Google’s tags (Consent Mode v2)
      </label>
      <label class="widget-check">
        <input
          type="checkbox"
          checked={displays === true}
          onChange={({ currentTarget }) => change({ displays: currentTarget.checked || undefined })}
        />
        Count how often the banner is shown, to see how many leave it unanswered
      </label>
    </Group>
  );
}
