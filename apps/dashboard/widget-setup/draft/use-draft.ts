/**
 * The draft that somebody changes. The service has it as it was last saved; this tab keeps what was typed since then, also
 * what is only half written.
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

/** `first`: as it was read. `isOpen`: to changes. `refreshLive`: somebody who has saved may have published, too. */
export function useDraft(domainId: string, first: Saved, isOpen: boolean, refreshLive: () => Promise<unknown>) {
  const banner = bannerOf(useSignedIn().api, domainId);
  const [saved, setSaved] = useState(first);
  const [typed, setTyped] = useState(() => (isOpen && typedIn(domainId, first)) || first);
  const [theirs, setTheirs] = useState<Saved | null>(null);
  /** why it was not saved, and what was not */
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
  /** Shows what somebody else has saved. What was typed is in this tab alone then, which keeps it. */
  const meet = async (other: Saved) => {
    await refreshLive();
    setSaved(other);
    setTheirs(other);
  };
  /** Whether the service has it now. Throws what is neither about a setting nor about somebody else's draft. */
  const save = async (over = tag): Promise<Saved | null> => {
    setRefused(null);
    try {
      const kept = await banner.save(draft, over);
      setTheirs(null);
      setSaved(kept);
      // somebody may have gone on typing
      setTyped((now) => (now.draft === draft ? kept : { draft: now.draft, tag: kept.tag }));
      return kept;
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
    /** the part of it that the widget takes */
    sound: readDraft(withNames(draft)),
    isChanged,
    /** since it was refused: of what it is now, so that none outlives what it was about */
    faults: refused === null ? [] : refused.draft === draft ? refused.faults : checkSettings(draft),
    /** what somebody else has saved meanwhile */
    theirs,
    change: (change: WidgetChange) => setTyped((now) => ({ ...now, draft: changed(now.draft, change) })),
    replace: (other: WidgetDraft) => setTyped((now) => ({ ...now, draft: other })),
    discard: () => take(saved),
    take,
    meet,
    /** what was typed stays in this tab */
    decideLater: () => setTheirs(null),
    save,
  };
}

/** A variant without a name, or with another one's, is shown although it cannot be saved. */
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

/** Undefined where that is what the service has. */
function typedIn(domainId: string, { draft }: Saved): Saved | undefined {
  const typed: unknown = withStorage((storage) => JSON.parse(storage.getItem(keyOf(domainId)) ?? ''));
  if (!isObject(typed) || !isObject(typed.draft) || isSameBanner(typed.draft, draft)) return undefined;
  return { draft: typed.draft, tag: typeof typed.tag === 'string' ? typed.tag : null };
}
