/** The texts of the banner, for all languages or for one, with the text that visitors read if a field is empty. */
import { useId, useState } from 'preact/hooks';
import { Button } from '../parts/button.tsx';
import { Select } from '../parts/field.tsx';
import { AddForm } from './add-form.tsx';
import {
  byName,
  defaultText,
  languageName,
  languagesOf,
  languageTag,
  type OwnTexts,
  textIn,
  withChosen,
  withText,
} from './draft/texts.ts';
import { Group, type LookProps } from './group.tsx';
import { first, others } from './text-names.ts';

interface Props extends LookProps {
  language: string;
  /** the widget's own texts in that language */
  ours: OwnTexts;
  setLanguage(language: string): void;
  /** the banner's language */
  lang: string | undefined;
  /** absent for a variant, which uses the banner's languages */
  onLang?: (lang: string) => void;
}

export function TextFields({ look: { texts }, below, change, language, ours, setLanguage, lang, onLang }: Props) {
  const [isAdding, setAdding] = useState(false);
  const languages = languagesOf({ ...below.texts, ...texts });
  const shown = language || lang || 'en';
  const fields = (names: Record<string, string>) =>
    Object.entries(names).map(([name, label]) => (
      <TextField
        key={name}
        label={label}
        isLong={['intro', 'gpc', 'noSettings'].includes(name)}
        value={textIn(texts, language, name)}
        placeholder={
          defaultText(texts, {}, language && shown, name) ||
          textIn(below.texts, language, name) ||
          defaultText(below.texts, ours, shown, name)
        }
        lang={language}
        onInput={(value) => change({ texts: withText(texts, language, name, value) })}
      />
    ));
  return (
    <Group title="Languages and texts" isOpen>
      {onLang && (
        <Select
          label="The banner’s language"
          options={[
            { value: '', name: 'The page’s, then the visitor’s' },
            ...byName(withChosen(languages, lang)).map(({ value, name }) => ({ value, name: `Always ${name}` })),
          ]}
          chosen={lang ?? ''}
          onChoose={onLang}
        />
      )}
      <div class="cluster bottom widget-row">
        <Select
          label="Texts in"
          options={[
            { value: '', name: 'all languages' },
            ...byName(withChosen(languages, language || undefined)).map(({ value, name }) => ({
              value,
              name: `${name}${typeof texts?.[value] === 'object' ? ' ✓' : ''}`,
            })),
          ]}
          chosen={language}
          onChoose={setLanguage}
        />
        {onLang && <Button text="Another language…" aria-expanded={isAdding} onClick={() => setAdding(!isAdding)} />}
      </div>
      {isAdding && (
        <AddForm
          label="Language tag"
          placeholder="de-AT"
          action="Add language"
          note="Where the widget has no texts of its own in it, what you leave empty is shown in English."
          troubleOf={(tag) =>
            languageTag.test(tag) ? undefined : 'Enter a language tag, such as ca, de-AT or zh-Hant.'
          }
          onAdd={(tag) => {
            setLanguage(tag);
            setAdding(false);
          }}
        />
      )}
      <p class="hint">
        {language === ''
          ? 'A text here replaces ours in every language. To write in several languages, choose one above, then the next.'
          : `Visitors who read ${languageName(language)} see these. An empty field keeps the text shown in grey.`}
      </p>
      {fields(first)}
      <details class="explain">
        <summary>Further texts</summary>
        <div class="stack gap-14 widget-fields">{fields(others)}</div>
      </details>
    </Group>
  );
}

interface FieldProps {
  label: string;
  isLong: boolean;
  value: string;
  placeholder: string;
  lang: string;
  onInput(value: string): void;
}

function TextField({ label, isLong, lang, onInput, ...given }: FieldProps) {
  const id = useId();
  const all = { ...given, id, lang: lang || undefined, dir: 'auto' as const };
  return (
    <div class="stack gap-4">
      <label for={id}>{label}</label>
      {isLong ? (
        <textarea {...all} rows={4} onInput={({ currentTarget }) => onInput(currentTarget.value)} />
      ) : (
        <input type="text" {...all} onInput={({ currentTarget }) => onInput(currentTarget.value)} />
      )}
    </div>
  );
}
