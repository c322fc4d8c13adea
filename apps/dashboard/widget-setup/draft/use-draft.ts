/**
 * The draft of a banner while somebody edits it. The service has the last saved state; this tab keeps the text typed
 * since, even if it is incomplete.
 */
import { useEffect, useState } from 'preact/hooks';
import type { FieldError } from '#libs/base/terms/problem';
import { AssentError } from '#libs/client/assent-error';
import { checkSettings } from '#libs/widget/check-settings';
import { isObject } from '#libs/widget/setting-rules';
import { useSignedIn } from '../../data/signed-in.ts';
import { withStorage } from '../../data/storage.ts';
import { bannerOf, type Saved } from '../banner-api.ts';
import { isSameBanner } from './changes.ts';
import { changed, readDraft, type WidgetChange, type WidgetDraft } from './draft.ts';

export type DraftState = ReturnType<typeof useDraft>;

/**
 * `first`: the draft as read. `isOpen`: editable. `refreshLive`: reads the live version, since a colleague who saved may
 * also have published.
 */
export function useDraft(domainId: string, first: Saved, isOpen: boolean, refreshLive: () => Promise<unknown>) {
  const banner = bannerOf(useSignedIn().api, domainId);
  const [saved, setSaved] = useState(first);
  const [typed, setTyped] = useState(() => (isOpen && typedIn(domainId, first)) || first);
  const [theirs, setTheirs] = useState<Saved | null>(null);
  /** the errors of the last save, and the draft that they are about */
  const [refused, setRefused] = useState<{ draft: WidgetDraft; faults: FieldError[] } | null>(null);
  const { draft, tag } = typed;
  const isChanged = !isSameBanner(draft, saved.draft);
  useEffect(() => {
    if (isOpen) keepTyped(domainId, isChanged ? typed : null);
  }, [typed, isChanged]);
  const take = (other: Saved) => {
    setRefused(null);
    setTheirs(null);
    setSaved(other);
    setTyped(other);
  };
  /** Shows the draft that somebody else has saved. This tab keeps the typed text. */
  const meet = async (other: Saved) => {
    await refreshLive();
    setSaved(other);
    setTheirs(other);
  };
  /**
   * Saves the draft; null if it was not saved. Throws errors that are neither about a setting nor about somebody else's
   * draft.
   */
  const save = async (over = tag): Promise<Saved | null> => {
    setRefused(null);
    try {
      const stored = await banner.save(draft, over);
      setTheirs(null);
      setSaved(stored);
      // keep what was typed during the request
      setTyped((now) => (now.draft === draft ? stored : { draft: now.draft, tag: stored.tag }));
      return stored;
    } catch (error) {
      if (!(error instanceof AssentError)) throw error;
      if (error.code === 'changed_meanwhile') {
        const other = await banner.draft();
        if (isSameBanner(other.draft, draft)) {
          take(other);
          return other;
        }
        await meet(other);
        return null;
      }
      if (error.errors.length === 0) throw error;
      setTheirs(null);
      setRefused({ draft, faults: error.errors });
      return null;
    }
  };
  return {
    draft,
    tag,
    /** the part of the draft that the widget accepts */
    sound: readDraft(withNames(draft)),
    isChanged,
    /** errors of the last save that still apply to the current draft */
    faults: refused === null ? [] : refused.draft === draft ? refused.faults : checkSettings(draft),
    /** the draft that somebody else has saved in the meantime */
    theirs,
    change: (change: WidgetChange) => setTyped((now) => ({ ...now, draft: changed(now.draft, change) })),
    replace: (other: WidgetDraft) => setTyped((now) => ({ ...now, draft: other })),
    discard: () => take(saved),
    take,
    meet,
    /** the typed text stays in this tab */
    decideLater: () => setTheirs(null),
    save,
  };
}

/** A variant with a missing or repeated name is shown although it cannot be saved. */
function withNames({ experiment, ...draft }: WidgetDraft): WidgetDraft {
  if (!experiment) return draft;
  const names = experiment.variants.map(({ name }) => name);
  const variants = experiment.variants.map((each, at) =>
    each.name && names.indexOf(each.name) === at ? each : { ...each, name: `${each.name.slice(0, 28)}-${at + 1}` },
  );
  return { ...draft, experiment: { ...experiment, variants } };
}

const keyOf = (domainId: string): string => `assent-draft ${domainId}`;

const keepTyped = (domainId: string, typed: Saved | null): void =>
  withStorage((storage) =>
    typed ? storage.setItem(keyOf(domainId), JSON.stringify(typed)) : storage.removeItem(keyOf(domainId)),
  );

/** Undefined if the service has the same draft. */
function typedIn(domainId: string, { draft }: Saved): Saved | undefined {
  const typed: unknown = withStorage((storage) => JSON.parse(storage.getItem(keyOf(domainId)) ?? ''));
  if (!isObject(typed) || !isObject(typed.draft) || isSameBanner(typed.draft, draft)) return undefined;
  return { draft: typed.draft, tag: typeof typed.tag === 'string' ? typed.tag : null };
}
