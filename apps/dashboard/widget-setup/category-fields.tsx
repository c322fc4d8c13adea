/** The categories that the banner asks for. */
import { Button } from '../parts/button.tsx';
import { Check } from '../parts/check.tsx';
import { AddForm } from './add-form.tsx';
import {
  defaultCategories,
  idTrouble,
  knownCategories,
  necessary,
  purposeOf,
  withCategory,
  withoutCategory,
  withRequired,
  withServices,
} from './draft/categories.ts';
import { defaultText, languageName, type OwnTexts, textIn, withoutText, withText } from './draft/texts.ts';
import { Group, type PartProps, TextInput } from './group.tsx';
import { Services } from './service-fields.tsx';

interface Props extends PartProps {
  language: string;
  /** the widget's own texts in that language */
  ours: OwnTexts;
}

export function Categories({ draft, change, language, ours }: Props) {
  const { categories = defaultCategories, texts } = draft;
  const write = (name: string) => (value: string) => change({ texts: withText(texts, language, name, value) });
  const nameIn = (id: string) =>
    textIn(texts, language, id) || defaultText(texts, ours, language || draft.lang || 'en', id);
  const services = (id: string) => (
    <Services
      name={nameIn(id) || id}
      services={categories.find((each) => each.id === id)?.services ?? []}
      onChange={(list) => change({ categories: withServices(categories, id, list) })}
    />
  );
  const own = categories.filter(({ id }) => id !== necessary && !knownCategories.includes(id));
  return (
    <Group title="Categories">
      <ul class="stack gap-8">
        <li>
          <Check checked disabled>
            <span>
              {nameIn(necessary)}
              <span class="hint"> always on</span>
            </span>
          </Check>
          {services(necessary)}
        </li>
        {knownCategories.map((id) => (
          <li key={id}>
            <Check
              checked={categories.some((each) => each.id === id)}
              onChange={(isOn) =>
                change({ categories: isOn ? withCategory(categories, { id }) : withoutCategory(categories, id) })
              }
            >
              <span>
                {nameIn(id)} <code>{id}</code>
              </span>
            </Check>
            {categories.some((each) => each.id === id) && services(id)}
          </li>
        ))}
      </ul>
      {own.map(({ id, required = false }) => (
        <fieldset key={id} class="widget-category">
          <legend>
            <code>{id}</code>
          </legend>
          <TextInput
            label="Name"
            value={textIn(texts, language, id)}
            placeholder={nameIn(id) || id}
            onText={write(id)}
          />
          <TextInput
            label="What it is for"
            value={textIn(texts, language, purposeOf(id))}
            placeholder={defaultText(texts, ours, language, purposeOf(id))}
            onText={write(purposeOf(id))}
          />
          {services(id)}
          <div class="cluster spread widget-row">
            <Check checked={required} onChange={(isOn) => change({ categories: withRequired(categories, id, isOn) })}>
              Always on, visitors are not asked
            </Check>
            <Button
              onClick={() =>
                change({
                  categories: withoutCategory(categories, id),
                  texts: withoutText(withoutText(texts, id), purposeOf(id)),
                })
              }
            >
              Remove<span class="hidden"> {id}</span>
            </Button>
          </div>
        </fieldset>
      ))}
      {own.length > 0 && (
        <p class="hint">
          Names are those in {language === '' ? 'all languages' : languageName(language)}: choose another language above
          to translate them.
        </p>
      )}
      <AddForm
        label="Another category"
        placeholder="maps"
        action="Add category"
        note="A short name for records and scripts, such as maps. What visitors read comes next."
        troubleOf={(id) => idTrouble(id, categories)}
        onAdd={(id) => change({ categories: withCategory(categories, { id }) })}
      />
    </Group>
  );
}
