/** Takes over the settings of a tag or of a link to this page. */
import { useState } from 'preact/hooks';
import { Button } from '../parts/button.tsx';
import type { WidgetDraft } from './draft/draft.ts';
import { readPasted } from './draft/tag-reader.ts';
import { refusedText } from './draft/use-draft.ts';

interface Props {
  domainId: string;
  onOpen(draft: WidgetDraft): void;
  onKey(apiKey: string): void;
}

export function OpenTag({ domainId, onOpen, onKey }: Props) {
  const [text, setText] = useState('');
  const [told, setTold] = useState<string[]>([]);
  const open = () => {
    const pasted = readPasted(text, domainId);
    if (!pasted) return setTold(['There is no tag of the widget in it, and no link to this page.']);
    onOpen(pasted.draft);
    if (pasted.apiKey !== null) onKey(pasted.apiKey);
    const many = Object.keys(pasted.draft).length;
    return setTold(
      [
        many === 0
          ? 'Opened: it has no settings of its own.'
          : `Opened, with ${many === 1 ? '1 setting' : `${many} settings`}.`,
        pasted.foreignDomain && `It belongs to the domain ${pasted.foreignDomain}: id and key stay this one’s.`,
        pasted.isPinned && 'It was pinned to one release of the widget; the tag below is not.',
        refusedText(pasted.refused),
      ].filter((each) => typeof each === 'string'),
    );
  };
  return (
    <details class="explain widget-open">
      <summary>Does the site already have a tag? Open it to go on.</summary>
      <form
        class="stack gap-14 widget-fields"
        onSubmit={(event) => {
          event.preventDefault();
          open();
        }}
      >
        <label>
          The tag, as it is in the page, or the link
          <textarea
            rows={4}
            spellcheck={false}
            value={text}
            onInput={({ currentTarget }) => setText(currentTarget.value)}
          />
        </label>
        <div>
          <Button text="Open" type="submit" />
        </div>
        <div role="status">
          {told.map((each) => (
            <p key={each}>{each}</p>
          ))}
        </div>
      </form>
    </details>
  );
}
