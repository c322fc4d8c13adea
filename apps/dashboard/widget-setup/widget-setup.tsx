/** The page that sets up a domain's banner: a draft with a preview, published for the site's tag. */
import './widget-setup.css';
import { useEffect, useState } from 'preact/hooks';
import { domainIn } from '../data/domains.ts';
import { useReading } from '../data/query.ts';
import { rights } from '../data/rights.ts';
import { peopleAddress } from '../data/router.ts';
import { mayPublish, mayRead } from '../data/scopes.ts';
import { isPerson, useSignedIn } from '../data/signed-in.ts';
import { Button } from '../parts/button.tsx';
import { Select } from '../parts/field.tsx';
import { LoadingOrError } from '../parts/loading-or-error.tsx';
import { NewestCheck } from '../parts/newest-check.tsx';
import { PageHead } from '../parts/page-head.tsx';
import { bannerOf, type Published, type Saved } from './banner-api.ts';
import { Behaviour } from './behaviour.tsx';
import { Categories } from './category-fields.tsx';
import { CheckCard } from './check-card.tsx';
import { Colours } from './colour-fields.tsx';
import { type AppearanceChange, changedAppearance } from './draft/draft.ts';
import { useDraft } from './draft/use-draft.ts';
import { warningsOf } from './draft/warnings.ts';
import { DraftBar } from './draft-bar.tsx';
import { ExperimentFields } from './experiment-fields.tsx';
import { ForDomains } from './for-domains.tsx';
import { LinksAndPolicy } from './links-and-policy.tsx';
import { NewestRecord } from './newest-record.tsx';
import { OtherDomain } from './other-domain.tsx';
import { PositionAndTheme } from './position-and-theme.tsx';
import { ownShade, Preview, type Shade } from './preview.tsx';
import { Regions } from './region-fields.tsx';
import { TagCard } from './tag-card.tsx';
import { TextFields } from './text-fields.tsx';
import { useOurTexts } from './use-our-texts.ts';
import { Versions } from './versions.tsx';

interface Props {
  domainId: string;
}

interface PageProps extends Props {
  query: URLSearchParams;
}

interface Read {
  saved: Saved;
  live: Published | null;
}

export function WidgetSetup({ domainId, query }: PageProps) {
  const signedIn = useSignedIn();
  const { api, organization } = signedIn;
  const banner = bannerOf(api, domainId);
  const reading = useReading<Read>(domainId, async (signal) => {
    const [saved, live] = await Promise.all([banner.draft(signal), banner.live(signal)]);
    return { saved, live };
  });
  const { name, archivedAt } = domainIn(organization, domainId);
  const isArchived = archivedAt !== undefined;
  const refreshLive = async () => {
    const live = await banner.live();
    const before = reading.latest();
    if (before) reading.put({ ...before, live });
    return live;
  };
  const read = reading.value;
  const publishes = mayPublish(organization);
  const [checked, setChecked] = useState('');
  const isFirst = query.get('step') === '3';
  return (
    <>
      <PageHead
        note={
          publishes
            ? 'Choose how the banner looks and what it asks, then publish it. The tag in the site stays the same.'
            : 'How the banner looks and what it asks.'
        }
        domain={{ domainId, page: 'widget' }}
      >
        <NewestCheck key={checked} domainId={domainId} />
      </PageHead>
      {isFirst && read && (
        <p class="notice" role="status">
          {read.live ? (
            <>
              Your banner is published. Next, put the tag into your pages, and invite colleagues under Overview →{' '}
              <a href={peopleAddress}>People</a>.
            </>
          ) : (
            '3. The banner: choose its colours and texts, publish it, and put the tag into your pages. The first record then appears at the end of this page.'
          )}
        </p>
      )}
      {isArchived && (
        <p class="notice">This domain is archived: its tag shows no banner, and nothing can be published.</p>
      )}
      {!publishes && (
        <p class="notice plan-notice">
          {isPerson(signedIn) ? (
            <>
              You see this banner, but cannot change it: that needs the right <strong>{rights.publish}</strong>. Ask
              somebody who manages your organization.
            </>
          ) : (
            <>
              You see this banner, but cannot change it: that needs the scope <code>publish</code> or{' '}
              <code>manage</code>, which your access token lacks. Whoever issues your tokens can add it.
            </>
          )}
        </p>
      )}
      <LoadingOrError reading={reading} kind="page" />
      {read && (
        <>
          <Editor domainId={domainId} isArchived={isArchived} isFirst={isFirst} read={read} refreshLive={refreshLive} />
          {!isArchived && <TagCard domainId={domainId} isPublished={read.live !== null} />}
          {!isArchived && publishes && <CheckCard domainId={domainId} name={name} onChecked={setChecked} />}
          {read.live && (
            <Versions
              domainId={domainId}
              live={read.live}
              mayPublish={publishes && !isArchived}
              refreshLive={refreshLive}
            />
          )}
          {mayRead(organization) && <NewestRecord domainId={domainId} />}
        </>
      )}
    </>
  );
}

interface EditorProps extends Props {
  isArchived: boolean;
  /** shown right after the first set-up */
  isFirst: boolean;
  read: Read;
  refreshLive(): Promise<Published | null>;
}

function Editor({ domainId, isArchived, isFirst, read, refreshLive }: EditorProps) {
  const { organization } = useSignedIn();
  const publishes = mayPublish(organization);
  const [open, setOpen] = useState<'start' | 'use' | null>(null);
  const state = useDraft(domainId, read.saved, publishes, refreshLive);
  const { draft, sound, change } = state;
  useEffect(() => {
    if (isFirst && !read.live && Object.keys(draft).length === 0) change({ company: organization.name });
  }, []);
  // language of the texts being edited, and of the preview; empty for all
  const [language, setLanguage] = useState('');
  const ours = useOurTexts(language || draft.lang || 'en');
  const [shade, setShade] = useState(ownShade);
  const [edited, setEdited] = useState<number | null>(null);
  const show = (chosen: Shade) => {
    setShade(chosen);
    document.querySelector('.widget-stage')?.scrollIntoView({ block: 'nearest' });
  };
  const { experiment } = draft;
  const variants = experiment?.variants ?? [];
  const variant = edited === null ? undefined : variants[edited];
  const changeVariant = (changed: AppearanceChange) => {
    if (!experiment || !variant) return;
    const settings = changedAppearance(variant.settings ?? {}, changed, draft);
    const put = variants.map((each) => (each === variant ? { ...each, settings } : each));
    change({ experiment: { ...experiment, variants: put } });
  };
  const look = variant
    ? { look: variant.settings ?? {}, below: draft, change: changeVariant }
    : { look: draft, below: {}, change };
  return (
    <div class="widget-work">
      <div class="columns widget-columns">
        <section class="card full widget-form" aria-label="Settings of the banner">
          {/* without the right to change it, the draft is read-only */}
          <fieldset disabled={!publishes}>
            {publishes && organization.domains.length > 1 && (
              <div class="cluster gap-8 widget-start">
                <Button kind="quiet" text="Start from another domain…" onClick={() => setOpen('start')} />
                <Button kind="quiet" text="Use for other domains…" onClick={() => setOpen('use')} />
              </div>
            )}
            {variants.length > 0 && (
              <div class="stack gap-6 widget-edited">
                <Select
                  label="Texts, colours and position of"
                  options={[
                    { value: '', name: 'all variants' },
                    ...variants.map(({ name }, at) => ({ value: String(at), name: `variant ${name}` })),
                  ]}
                  chosen={variant ? String(edited) : ''}
                  onChoose={(chosen) => setEdited(chosen === '' ? null : Number(chosen))}
                />
                {variant && (
                  <p class="hint">
                    What you leave empty here is the same as for all variants, and so are the categories.
                  </p>
                )}
              </div>
            )}
            <TextFields
              {...look}
              language={language}
              ours={ours.texts}
              setLanguage={setLanguage}
              lang={draft.lang}
              {...(!variant && { onLang: (lang: string) => change({ lang }) })}
            />
            {!variant && <Categories draft={draft} change={change} language={language} ours={ours.texts} />}
            <Colours {...look} onShow={show} />
            <PositionAndTheme {...look} />
            {!variant && (
              <>
                <LinksAndPolicy draft={draft} change={change} />
                <Behaviour draft={draft} change={change} />
                <Regions draft={draft} change={change} />
                <ExperimentFields
                  draft={draft}
                  change={change}
                  domainId={domainId}
                  onEdit={(at) => {
                    setEdited(at);
                    document.querySelector<HTMLElement>('.widget-form select')?.focus();
                  }}
                />
              </>
            )}
          </fieldset>
          {open === 'start' && <OtherDomain domainId={domainId} onTake={state.replace} onClose={() => setOpen(null)} />}
          {open === 'use' && <ForDomains domainId={domainId} draft={draft} onClose={() => setOpen(null)} />}
        </section>
        <Preview
          draft={sound}
          language={language}
          ours={ours}
          setLanguage={setLanguage}
          shade={shade}
          setShade={setShade}
        />
      </div>
      {warningsOf(sound).map((warning) => (
        <p key={warning} class="notice">
          {warning}
        </p>
      ))}
      {publishes && (
        <DraftBar
          domainId={domainId}
          isArchived={isArchived}
          state={state}
          live={read.live}
          refreshLive={refreshLive}
        />
      )}
    </div>
  );
}
