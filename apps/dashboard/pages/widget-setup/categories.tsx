/** What the banner asks for. */

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
} from './draft/categories.ts';
import { defaultText, languageName, textIn, withoutText, withText } from './draft/texts.ts';
import { Group, type PartProps } from './group.tsx';

interface Props extends PartProps {
  language: string;
}

export function Categories({ draft, change, language }: Props) {
  const { categories = defaultCategories, texts } = draft;
  const write = (name: string) => (value: string) => change({ texts: withText(texts, language, name, value) });
  const nameIn = (id: string) => textIn(texts, language, id) || defaultText(texts, language || draft.lang || 'en', id);
  const own = categories.filter(({ id }) => id !== necessary && !knownCategories.includes(id));
  return (
    <Group title="Categories">
      <ul class="widget-checks">
        <li>
          <label>
            <input type="checkbox" checked disabled />
            <span>
              {nameIn(necessary)}
              <span class="hint"> always on</span>
            </span>
          </label>
        </li>
        {knownCategories.map((id) => (
          <li key={id}>
            <label>
              <input
                type="checkbox"
                checked={categories.some((each) => each.id === id)}
                onChange={({ currentTarget }) =>
                  change({
                    categories: currentTarget.checked
                      ? withCategory(categories, { id })
                      : withoutCategory(categories, id),
                  })
                }
              />
              <span>
                {nameIn(id)} <code>{id}</code>
              </span>
            </label>
          </li>
        ))}
      </ul>
      {own.map(({ id, required = false }) => (
        <fieldset key={id} class="widget-category">
          <legend>
            <code>{id}</code>
          </legend>
          <Named label="Name" value={textIn(texts, language, id)} placeholder={nameIn(id) || id} onInput={write(id)} />
          <Named
            label="What it is for"
            value={textIn(texts, language, purposeOf(id))}
            placeholder={defaultText(texts, language, purposeOf(id))}
            onInput={write(purposeOf(id))}
          />
          <div class="widget-row">
            <label class="widget-check">
              <input
                type="checkbox"
                checked={required}
                onChange={({ currentTarget }) =>
                  change({ categories: withRequired(categories, id, currentTarget.checked) })
                }
              />
              Always on, visitors are not asked
            </label>
            <button
              type="button"
              class="button"
              onClick={() =>
                change({
                  categories: withoutCategory(categories, id),
                  texts: withoutText(withoutText(texts, id), purposeOf(id)),
                })
              }
            >
              Remove<span class="hidden"> {id}</span>
            </button>
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

interface NamedProps {
  label: string;
  value: string;
  placeholder: string;
  onInput(value: string): void;
}

const Named = ({ label, onInput, ...given }: NamedProps) => (
  <label>
    {label}
    <input type="text" maxLength={2000} {...given} onInput={({ currentTarget }) => onInput(currentTarget.value)} />
  </label>
);
