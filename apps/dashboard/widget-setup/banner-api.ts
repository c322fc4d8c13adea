/** The endpoints of a domain's banner. */
import type { PublishBody, ShownVersion } from '#libs/banner/contract';
import type { Api } from '../data/api.ts';
import { bodyOf, type Called } from '../data/calls.ts';
import { idempotent } from '../data/idempotent.ts';
import { readDraft, type WidgetDraft } from './draft/draft.ts';

export interface Saved {
  draft: WidgetDraft;
  /** ETag of the draft */
  tag: string | null;
}

export interface Published extends Omit<ShownVersion, 'settings'> {
  settings: WidgetDraft;
}

const banner = '/v1/organization/domains/:domainId/banner';
const readSaved = ({ body, tag }: Called<unknown>): Saved => ({ draft: readDraft(body), tag });

export function bannerOf({ call: ask }: Api, domainId: string) {
  const params = { domainId };
  /** Newest first. */
  const versions = (query: { limit?: number; cursor?: string } = {}, signal?: AbortSignal) =>
    ask(`get ${banner}/versions`, { params, query, signal }).then(bodyOf);
  const version = async (number: number, signal?: AbortSignal): Promise<Published> => {
    const { body } = await ask(`get ${banner}/versions/:version`, { params: { domainId, version: number }, signal });
    return { ...body, settings: readDraft(body.settings) };
  };
  return {
    draft: (signal?: AbortSignal) => ask(`get ${banner}`, { params, signal }).then(readSaved),
    /** `tag`: the version to change. */
    save: (draft: WidgetDraft, tag: string | null) =>
      ask(`put ${banner}`, { params, body: draft, tag }).then(readSaved),
    /** `about`: identifies the published content, which is not in the body. */
    publish: (body: PublishBody, about: string | null) =>
      idempotent(ask, about)(`post ${banner}/publish`, { params, body }).then(bodyOf),
    versions,
    version,
    /** Null before the first publication. */
    live: async (signal?: AbortSignal): Promise<Published | null> => {
      const [newest] = (await versions({ limit: 1 }, signal)).versions;
      return newest ? version(newest.version, signal) : null;
    },
  };
}
