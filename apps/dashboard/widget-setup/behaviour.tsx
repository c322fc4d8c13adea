/** How long a choice lasts, where it applies, and the scripts that are informed. */
import { Check } from '../parts/check.tsx';
import type { WidgetDraft } from './draft/draft.ts';
import { Group, type PartProps, TextInput } from './group.tsx';

type Signals = NonNullable<WidgetDraft['signals']>;

const microsoft = [
  { name: 'uet', label: 'Tell Microsoft Advertising (UET)' },
  { name: 'clarity', label: 'Tell Microsoft Clarity' },
] as const;

/** Only switches that are off are stored, since on is the default. */
function withSignal(signals: Signals, name: keyof Signals, isOn: boolean): Signals {
  const { [name]: _, ...others } = signals;
  return isOn ? others : { ...others, [name]: false };
}

export function Behaviour({ draft, change }: PartProps) {
  const { maxAgeMonths = 12, cookieDomain = '', consentMode, displays, layer = '', signals = {}, reload } = draft;
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
          // the value in the tag
          onBlur={({ currentTarget }) => {
            currentTarget.valueAsNumber = maxAgeMonths;
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
        onText={(text) => change({ cookieDomain: hostIn(text) })}
      />
      <p class="hint" id="widget-cookie-note">
        The choice is then kept in a cookie. Otherwise each host name asks for itself.
      </p>
      <Check checked={consentMode !== false} onChange={(isOn) => change({ consentMode: isOn ? undefined : false })}>
        Tell Google’s tags (Consent Mode v2)
      </Check>
      {microsoft.map(({ name, label }) => (
        <Check
          key={name}
          checked={signals[name] !== false}
          onChange={(isOn) => change({ signals: withSignal(signals, name, isOn) })}
        >
          {label}
        </Check>
      ))}
      <TextInput
        label="Name of Tag Manager’s data layer"
        autocomplete="off"
        spellcheck={false}
        placeholder="dataLayer"
        value={layer}
        onText={(text) => change({ layer: text.replace(/[^\w$]/g, '') })}
      />
      <Check checked={reload === true} onChange={(isOn) => change({ reload: isOn || undefined })}>
        Reload the page when consent is withdrawn
      </Check>
      <Check checked={displays === true} onChange={(isOn) => change({ displays: isOn || undefined })}>
        Count how often the banner is shown, to see how many leave it unanswered
      </Check>
    </Group>
  );
}

/** Accepts a pasted address and takes its host. */
const hostIn = (text: string): string =>
  text
    .trim()
    .replace(/^[a-z]+:\/\//i, '')
    .replace(/[/:?#].*/s, '')
    .replace(/[^A-Za-z0-9.-]/g, '');
