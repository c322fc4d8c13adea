/**
 * The real widget in a frame, or in one frame for each variant of an A/B test. The frame is a page of its own that stores
 * and sends nothing.
 */
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { type PreviewRequest, type PreviewShown, previewReady } from '#libs/widget/preview';
import { useWidth } from '../charts/use-width.ts';
import { base } from '../data/base.ts';
import { Button } from '../parts/button.tsx';
import { Check } from '../parts/check.tsx';
import { Select } from '../parts/field.tsx';
import { isolated } from '../parts/isolated.tsx';
import { onlyScheme } from './draft/contrast.ts';
import type { Variant, WidgetDraft } from './draft/draft.ts';
import { visitorsFor } from './draft/regions.ts';
import { byName, languagesOf, withChosen } from './draft/texts.ts';
import { Options } from './options.tsx';
import type { OurTexts } from './use-our-texts.ts';

interface Props {
  draft: WidgetDraft;
  language: string;
  ours: OurTexts;
  setLanguage(language: string): void;
  shade: Shade;
  setShade(shade: Shade): void;
}

/** Sizes of visitors' screens. */
export type Shade = 'light' | 'dark';
export const ownShade = (): Shade => (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light');

/** Size of the framed page in pixels. */
const sizes = { desktop: { width: 1024, height: 660 }, phone: { width: 375, height: 660 } };
/** Share of the screen's height, as in the stylesheet that keeps the preview above the form. */
const stageShare = 0.36;
const narrow = matchMedia('(max-width: 1000px)');
/** The smallest readable scale. */
const smallest = 0.45;
/** Milliseconds without typing before the preview updates. */
const settling = 120;
/** Milliseconds within which the frame must respond, in total and after loading. An error page loads as well. */
const patience = 8_000;
const patienceOnceLoaded = 1_000;

export function Preview({ draft, language, ours, setLanguage, shade, setShade }: Props) {
  const [size, setSize] = useState<keyof typeof sizes>(() => (innerWidth < 640 ? 'phone' : 'desktop'));
  const [view, setView] = useState<PreviewRequest['view']>('banner');
  const [turn, setTurn] = useState(0);
  const [from, setFrom] = useState('');
  const [hasSignal, setSignal] = useState(false);
  const languages = languagesOf(draft.texts);
  const chosen = language || draft.lang || 'en';
  // settings without effect there, or that would draw another variant with each change
  const { cookieDomain: _, metadata: __, consentMode: ___, displays: ____, experiment, ...shown } = draft;
  const config = { ...shown, lang: chosen, theme: onlyScheme(draft) ?? shade };
  const visitors = visitorsFor(draft.regions ?? []);
  const visitor = visitors.find(({ value }) => value === from) ?? visitors[0];
  const order = (variant?: Variant): PreviewRequest | null =>
    ours.isLoading
      ? null
      : {
          config: variant ? { ...config, ...alone(variant, shade) } : config,
          texts: ours.texts,
          view,
          isDark: shade === 'dark',
          ...(draft.regions && visitor && { place: visitor.place, hasSignal }),
        };
  const variants = experiment?.variants ?? [];
  return (
    <section class="card stack gap-14 widget-preview" aria-labelledby="preview-title">
      <header class="card-head">
        <h2 id="preview-title">Preview</h2>
        <p class="muted">Nothing that you click here is recorded.</p>
      </header>
      <div class="cluster bottom widget-switches">
        <Options label="Width" options={{ desktop: 'Desktop', phone: 'Phone' }} chosen={size} onChoose={setSize} />
        <Options label="Screen" options={{ light: 'Light', dark: 'Dark' }} chosen={shade} onChoose={setShade} />
        <Options
          label="View"
          options={{ banner: 'Banner', preferences: 'Settings' }}
          chosen={view}
          onChoose={setView}
        />
        <Select
          label="Language"
          options={byName(withChosen(languages, chosen))}
          chosen={chosen}
          onChoose={setLanguage}
        />
        {draft.regions && visitor && (
          <>
            <Select label="Visitor from" options={visitors} chosen={visitor.value} onChoose={setFrom} />
            <Check checked={hasSignal} onChange={setSignal}>
              Global Privacy Control
            </Check>
          </>
        )}
        <Button text="Show again" onClick={() => setTurn(turn + 1)} />
      </div>
      {variants.length === 0 ? (
        <div class="widget-stages">
          <Stage order={order()} turn={turn} size={size} title="The banner as visitors see it" />
        </div>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling area must be reachable by keyboard
        <section class={`widget-stages ${size}`} aria-label="Variants" tabIndex={0}>
          {variants.map((variant, at) => (
            <figure key={at}>
              <figcaption class="hint">{isolated(variant.name)}</figcaption>
              <Stage order={order(variant)} turn={turn} size={size} title={`The variant ${variant.name}`} />
            </figure>
          ))}
        </section>
      )}
    </section>
  );
}

/** A draft in which the widget always chooses this variant. */
const alone = ({ settings = {} }: Variant, shade: Shade) => ({
  experiment: {
    id: 'preview',
    variants: [{ name: 'shown', settings: settings.theme === 'auto' ? { ...settings, theme: shade } : settings }],
  },
});

interface StageProps {
  /** null while unknown */
  order: PreviewRequest | null;
  /** a change reloads the preview */
  turn: number;
  size: keyof typeof sizes;
  title: string;
}

function Stage({ order, turn, size, title }: StageProps) {
  const { ref, width } = useWidth();
  const frame = useFrame(order, turn);
  const { width: natural, height } = sizes[size];
  // a small screen shows the banner from its title to its end
  const room = narrow.matches ? (innerHeight * stageShare) / (height - frame.above + 8) : 1;
  const scale = width === 0 ? 1 : Math.min(1, width / natural, Math.max(smallest, room));
  return (
    <>
      {frame.state === 'lost' && (
        <div class="notice notice-bad" role="alert">
          The preview could not be loaded. <Button text="Try again" onClick={frame.reload} />
        </div>
      )}
      {/* a small screen shows only a part of a phone's, which the keyboard must be able to scroll */}
      <section
        ref={ref}
        class="widget-stage"
        aria-label={title}
        tabIndex={size === 'phone' ? 0 : undefined}
        style={{ height: `${height * scale}px` }}
      >
        <iframe
          key={frame.number}
          ref={frame.ref}
          onLoad={frame.loaded}
          title={title}
          src={`${base}/widget-preview`}
          sandbox="allow-scripts"
          width={natural}
          height={height}
          style={{
            transform: `scale(${scale})`,
            marginInlineStart: `${Math.max(0, (width - natural * scale) / 2)}px`,
            // the drawn height, for scrolling
            marginBlockEnd: `${height * (scale - 1)}px`,
          }}
        />
      </section>
    </>
  );
}

/** Sends the draft to the frame once the frame listens and the draft is known. */
function useFrame(order: PreviewRequest | null, turn: number) {
  const ref = useRef<HTMLIFrameElement>(null);
  const [state, setState] = useState<'loading' | 'ready' | 'lost'>('loading');
  const [number, setNumber] = useState(0);
  const [above, setAbove] = useState(0);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const expect = (within: number) => {
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setState((before) => (before === 'ready' ? before : 'lost')), within);
  };
  // a layout effect, so that it listens before the frame's first message
  useLayoutEffect(() => {
    expect(patience);
    const listen = ({ source, data }: MessageEvent<typeof previewReady | PreviewShown>) => {
      if (source !== ref.current?.contentWindow) return;
      if (data === previewReady) setState('ready');
      else setAbove(data.above);
    };
    addEventListener('message', listen);
    return () => {
      clearTimeout(timer.current);
      removeEventListener('message', listen);
    };
  }, [number]);
  useEffect(() => {
    if (state !== 'ready' || order === null) return undefined;
    // the frame's origin is opaque, so the target origin is `*`; the message has no secrets
    const timer = setTimeout(() => ref.current?.contentWindow?.postMessage(order, '*'), settling);
    return () => clearTimeout(timer);
  }, [state, turn, JSON.stringify(order)]);
  const reload = () => {
    setState('loading');
    setNumber(number + 1);
  };
  return { ref, state, number, above, loaded: () => expect(patienceOnceLoaded), reload };
}
