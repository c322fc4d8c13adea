/** Rules for places. The first rule that matches a visitor's place applies. */
import { useEffect, useState } from 'preact/hooks';
import type { Model, Region } from '#libs/widget/config';
import { checkedOn } from '#libs/widget/region-presets';
import { Button } from '../parts/button.tsx';
import { CategoryName } from '../parts/category-name.tsx';
import { Check } from '../parts/check.tsx';
import { Select } from '../parts/field.tsx';
import { defaultCategories, necessary } from './draft/categories.ts';
import { codesOf, modelNames, placeName, readPlaces, tidyRule, unusedPresets, withRule } from './draft/regions.ts';
import { Group, type PartProps, TextInput } from './group.tsx';

export function Regions({ draft, change }: PartProps) {
  const { regions = [], categories = defaultCategories, maxAgeMonths = 12 } = draft;
  const asked = categories.filter(({ id, required }) => !required && id !== necessary).map(({ id }) => id);
  const put = (rules: Region[]) => change({ regions: rules });
  const presets = unusedPresets(regions);
  return (
    <Group title="Regions">
      <p class="hint">
        Without rules, every visitor is asked first. Otherwise the first rule that matches holds, and whoever is in an
        unknown place is asked first. The service must be set up to find countries and states.
      </p>
      {regions.map((rule, at) => {
        const before = regions[at - 1];
        return (
          <fieldset key={at} class="widget-category">
            <legend>Rule {at + 1}</legend>
            <Rule
              rule={rule}
              asked={asked}
              months={maxAgeMonths}
              onChange={(changed) => put(regions.with(at, tidyRule({ ...rule, ...changed })))}
            />
            <div class="actions tight">
              {before && (
                <Button onClick={() => put(regions.toSpliced(at - 1, 2, rule, before))}>
                  Move up<span class="hidden"> rule {at + 1}</span>
                </Button>
              )}
              <Button onClick={() => put(regions.toSpliced(at, 1))}>
                Remove<span class="hidden"> rule {at + 1}</span>
              </Button>
            </div>
          </fieldset>
        );
      })}
      <div>
        <Button text="Add rule" onClick={() => put(withRule(regions, { in: [], model: 'opt_in' }))} />
      </div>
      {presets.length > 0 && (
        <section class="stack gap-6" aria-label="Presets">
          <p class="hint">Use the preset for (laws as of {checkedOn}; this is no legal advice):</p>
          <div class="actions tight">
            {presets.map((preset) => (
              <Button key={preset.name} text={preset.name} onClick={() => put(withRule(regions, preset))} />
            ))}
            <Button text="All of them" onClick={() => put(presets.reduce(withRule, regions))} />
          </div>
        </section>
      )}
    </Group>
  );
}

interface RuleProps {
  rule: Region;
  /** categories that visitors are asked for */
  asked: string[];
  /** the rule for all other places */
  months: number;
  onChange(change: Partial<Region>): void;
}

function Rule({ rule, asked, months, onChange }: RuleProps) {
  const { model, on = [], maxAgeMonths = '' } = rule;
  return (
    <>
      <Places rule={rule} onPlaces={(places) => onChange({ in: places })} />
      <Select
        label="What happens there"
        options={Object.entries(modelNames).map(([value, name]) => ({ value, name }))}
        chosen={model}
        onChoose={(chosen) => onChange({ model: chosen as Model })}
      />
      {model === 'opt_in' && (
        <fieldset class="widget-options">
          <legend>On until the visitor objects, where the law exempts it</legend>
          <div class="cluster">
            {asked.map((id) => (
              <Check
                key={id}
                checked={on.includes(id)}
                onChange={(isOn) => onChange({ on: asked.filter((each) => (each === id ? isOn : on.includes(each))) })}
              >
                <CategoryName id={id} />
              </Check>
            ))}
          </div>
        </fieldset>
      )}
      {model === 'opt_in' && (
        <label>
          Months until visitors are asked again
          <input
            type="number"
            min={1}
            max={120}
            placeholder={String(months)}
            value={maxAgeMonths}
            onInput={({ currentTarget: { valueAsNumber, validity } }) =>
              validity.valid && onChange({ maxAgeMonths: valueAsNumber })
            }
            // the value in the draft
            onBlur={({ currentTarget }) => {
              currentTarget.value = String(maxAgeMonths);
            }}
          />
        </label>
      )}
    </>
  );
}

function Places({ rule, onPlaces }: { rule: Region; onPlaces(places: Region['in']): void }) {
  const [text, setText] = useState(() => codesOf(rule).join(', '));
  // reset when another rule moves here
  const codes = codesOf(rule).join(', ');
  useEffect(
    () => setText((typed) => (codesOf({ in: readPlaces(typed) }).join(', ') === codes ? typed : codes)),
    [codes],
  );
  return (
    <TextInput
      label="Where"
      autocomplete="off"
      spellcheck={false}
      placeholder="GB, US-CA, EEA or *"
      value={text}
      onText={(typed) => {
        setText(typed);
        onPlaces(readPlaces(typed));
      }}
    >
      <span class="hint">{codesOf(rule).map(placeName).join(', ') || 'Codes of countries and states'}</span>
    </TextInput>
  );
}
