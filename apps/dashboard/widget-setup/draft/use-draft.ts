/**
 * The banner that somebody is setting up. It is in the address of the page, so that a link opens it again; this tab also keeps
 * what no link has: settings that are too long for one, and those that are only half written.
 */

import { useEffect, useState } from 'preact/hooks';
import { isObject } from '#libs/widget/setting-rules';
import { withStorage } from '../../data/storage.ts';
import { changed, readDraft, type WidgetChange, type WidgetDraft } from './draft.ts';
import { fromFragment, hasDraft, toFragment } from './link.ts';

interface DraftState {
  /** as it was typed */
  draft: WidgetDraft;
  /** the part of it that the widget takes */
  sound: WidgetDraft;
  /** about the link that it came from; null where there is nothing to say */
  linkTrouble: string | null;
  /** null where the settings are too long for a link */
  fragment: string | null;
  change(change: WidgetChange): void;
  open(draft: WidgetDraft): void;
}

/** Milliseconds: a browser lets a page change its address only so often. */
const settling = 100;

type Opened = Pick<DraftState, 'draft' | 'linkTrouble'>;

export function useDraft(domainId: string): DraftState {
  const [{ draft, linkTrouble }, setState] = useState<Opened>(() => opened(domainId));
  const sound = readDraft(draft).draft;
  const fragment = toFragment(sound);
  useEffect(() => keepTyped(domainId, draft), [draft]);
  useEffect(() => {
    const timer = setTimeout(
      () => history.replaceState(history.state, '', location.pathname + location.search + (fragment ?? '')),
      settling,
    );
    return () => clearTimeout(timer);
  }, [fragment]);
  useEffect(() => {
    const follow = () => setState((before) => inAddress() ?? before);
    addEventListener('hashchange', follow);
    return () => removeEventListener('hashchange', follow);
  }, []);
  return {
    draft,
    sound,
    linkTrouble,
    fragment,
    change: (change) => setState((before) => ({ ...before, draft: changed(before.draft, change) })),
    open: (other) => setState({ draft: other, linkTrouble: null }),
  };
}

/** The link's, unless that is what was typed here. */
function opened(domainId: string): Opened {
  const typed = typedIn(domainId);
  const linked = inAddress();
  if (linked && toFragment(readDraft(typed).draft) !== location.hash) return linked;
  return { draft: typed, linkTrouble: null };
}

const keyOf = (domainId: string): string => `assent.banner.${domainId}`;

const keepTyped = (domainId: string, draft: WidgetDraft): void =>
  withStorage((storage) => storage.setItem(keyOf(domainId), JSON.stringify(draft)));

function typedIn(domainId: string): WidgetDraft {
  const typed: unknown = withStorage((storage) => JSON.parse(storage.getItem(keyOf(domainId)) ?? ''));
  return isObject(typed) ? typed : {};
}

function inAddress(): Opened | null {
  if (!hasDraft(location.hash)) return null;
  const read = fromFragment(location.hash);
  if (!read) return { draft: {}, linkTrouble: 'The link is damaged, so the page shows the widget as it comes.' };
  return { draft: read.draft, linkTrouble: refusedText(read.refused) };
}

export const refusedText = (refused: string[]): string | null =>
  refused.length === 0 ? null : `Not understood and left out: ${refused.slice(0, 10).join('; ')}.`;
