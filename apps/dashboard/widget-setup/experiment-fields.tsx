/** An A/B test: its variants and their shares. The appearance of a variant is set in the banner's own fields. */
import { useState } from 'preact/hooks';
import { experimentsAddress } from '../data/router.ts';
import { mayRead } from '../data/scopes.ts';
import { useSignedIn } from '../data/signed-in.ts';
import { Button } from '../parts/button.tsx';
import type { Variant } from './draft/draft.ts';
import { Group, type PartProps, TextInput } from './group.tsx';

interface Props extends PartProps {
  domainId: string;
  /** opens the fields for the variant's appearance */
  onEdit(variant: number): void;
}

/** The longest experiment and variant names in a record. */
const longestName = 31;
const named = { autocomplete: 'off', spellcheck: false, maxLength: longestName } as const;
const asName = (text: string): string => text.replace(/[^\w.-]/g, '');

export function ExperimentFields({ draft: { experiment }, change, domainId, onEdit }: Props) {
  const { organization } = useSignedIn();
  if (!experiment)
    return (
      <Group title="A/B test">
        <p class="hint">
          Shows visitors one of several variants, at random. Each has to be a valid banner by itself: none may make
          rejecting harder or less visible than accepting, by its words or its colours.
        </p>
        <div>
          <Button
            text="Start an A/B test"
            onClick={() => change({ experiment: { id: 'test-1', variants: [{ name: 'plain' }, { name: 'other' }] } })}
          />
        </div>
      </Group>
    );
  const { id, variants } = experiment;
  const put = (changed: Variant[]) => change({ experiment: { id, variants: changed } });
  const replace = (at: number, variant: Variant) => put(variants.map((each, index) => (index === at ? variant : each)));
  return (
    <Group title="A/B test">
      <TextInput
        label="Name of the test"
        {...named}
        value={id}
        onText={(text) => change({ experiment: { id: asName(text), variants } })}
      />
      {variants.map((variant, at) => (
        <fieldset key={at} class="widget-category">
          <legend>Variant {at + 1}</legend>
          <TextInput
            label="Name"
            {...named}
            error={variants.findIndex(({ name }) => name === variant.name) < at ? 'Another variant has this name.' : ''}
            value={variant.name}
            onText={(text) => replace(at, { ...variant, name: asName(text) })}
          />
          <Share share={variant.share ?? 1} onShare={(share) => replace(at, { ...variant, share })} />
          <div class="actions tight">
            <Button onClick={() => onEdit(at)}>
              Texts and colours<span class="hidden"> of {variant.name}</span>
            </Button>
            <Button onClick={() => put(variants.filter((_, index) => index !== at))}>
              Remove<span class="hidden"> variant {at + 1}</span>
            </Button>
          </div>
        </fieldset>
      ))}
      <div class="actions tight">
        <Button text="Add variant" onClick={() => put([...variants, { name: `variant-${variants.length + 1}` }])} />
        <Button text="End the test" onClick={() => change({ experiment: undefined })} />
      </div>
      {mayRead(organization) && (
        <p class="hint">
          What visitors decide under each variant is on the page <a href={experimentsAddress(domainId)}>Experiments</a>.
        </p>
      )}
    </Group>
  );
}

/** A share relative to the other shares. */
function Share({ share, onShare }: { share: number; onShare(share: number): void }) {
  const [typed, setTyped] = useState(String(share));
  return (
    <label>
      Share, relative to the others
      <input
        type="number"
        min={0}
        max={1_000_000}
        step="any"
        value={typed}
        onInput={({ currentTarget: { value, valueAsNumber, validity } }) => {
          setTyped(value);
          if (validity.valid && !Number.isNaN(valueAsNumber)) onShare(valueAsNumber);
        }}
        onBlur={() => setTyped(String(share))}
      />
    </label>
  );
}
