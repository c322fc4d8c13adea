/** Setting up a domain's widget by looking at it. Nothing changes on the service: what comes out is a tag. */
import './widget-setup.css';
import { useState } from 'preact/hooks';
import { domainIn } from '../data/domains.ts';
import { keptKey } from '../data/kept-keys.ts';
import { useSignedIn } from '../data/signed-in.ts';
import { PageHead } from '../parts/page-head.tsx';
import { Behaviour } from './behaviour.tsx';
import { Categories } from './category-fields.tsx';
import { Colours } from './colour-fields.tsx';
import { useDraft } from './draft/use-draft.ts';
import { LinksAndVersions } from './links-and-versions.tsx';
import { NewestRecord } from './newest-record.tsx';
import { OpenTag } from './open-tag.tsx';
import { PositionAndTheme } from './position-and-theme.tsx';
import { ownShade, Preview, type Shade } from './preview.tsx';
import { TagCard } from './tag-card.tsx';
import { TextFields } from './text-fields.tsx';
import { useOurTexts } from './use-our-texts.ts';

interface Props {
  domainId: string;
}

export function WidgetSetup({ domainId }: Props) {
  const { organization } = useSignedIn();
  const state = useDraft(domainId);
  const { draft, change } = state;
  const [apiKey, setApiKey] = useState(() => keptKey(domainId));
  // of the texts that are being written, and of the preview; empty for all
  const [language, setLanguage] = useState('');
  const ours = useOurTexts(language || draft.lang || 'en');
  const [shade, setShade] = useState(ownShade);
  const show = (chosen: Shade) => {
    setShade(chosen);
    document.querySelector('.widget-stage')?.scrollIntoView({ block: 'nearest' });
  };
  const { archivedAt } = domainIn(organization, domainId);
  return (
    <>
      <PageHead
        note="Choose how the banner looks and what it asks, then copy the tag into the site."
        domain={{ domainId, page: 'widget' }}
      />
      {archivedAt && <p class="notice">This domain is archived: its tag shows the banner, and nothing is recorded.</p>}
      {state.linkTrouble !== null && (
        <p class="notice notice-bad" role="alert">
          {state.linkTrouble}
        </p>
      )}
      <div class="columns widget-columns">
        <section class="card full widget-form" aria-label="Settings of the banner">
          <OpenTag domainId={domainId} onOpen={state.open} onKey={setApiKey} />
          <TextFields draft={draft} change={change} language={language} ours={ours.texts} setLanguage={setLanguage} />
          <Categories draft={draft} change={change} language={language} ours={ours.texts} />
          <Colours draft={draft} change={change} onShow={show} />
          <PositionAndTheme draft={draft} change={change} />
          <LinksAndVersions draft={draft} change={change} />
          <Behaviour draft={draft} change={change} />
        </section>
        <Preview
          draft={state.sound}
          language={language}
          ours={ours}
          setLanguage={setLanguage}
          shade={shade}
          setShade={setShade}
        />
      </div>
      <TagCard
        domainId={domainId}
        draft={state.sound}
        fragment={state.fragment}
        apiKey={apiKey}
        setApiKey={setApiKey}
      />
      <NewestRecord domainId={domainId} />
    </>
  );
}
