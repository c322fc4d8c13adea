/** The endpoints that show or erase one visitor's data, and list who did so. */

import { parseJson, readText } from '#libs/client/request';
import type { Visitor } from '#libs/privacy/contract';
import { bodyOf, domainPath } from './calls.ts';
import { listedActs } from './manage-api.ts';
import type { Requests } from './requests.ts';

/** Timeout in milliseconds for a visitor's data, which the service streams. */
const streamTimeout = 120_000;

export interface FoundVisitor {
  /** the response as it was sent, for download */
  text: string;
  visitor: Visitor;
}

const long = () => ({ expiry: AbortSignal.timeout(streamTimeout) });

export const createPrivacyApi = ({ call, getJson }: Requests) => ({
  /** This and the next send the visitor's id in the body, so that no proxy logs it. `domainId`: null for all domains. */
  visitor: async (domainId: string | null, visitorId: string, signal?: AbortSignal): Promise<FoundVisitor> => {
    const given = { body: { visitorId }, signal };
    const text = await readText(
      domainId === null
        ? await getJson('post /v1/organization/visitors/lookup', given, long())
        : await getJson(`post ${domainPath}/visitors/lookup`, { ...given, params: { domainId } }, long()),
    );
    return { text, visitor: parseJson<Visitor>(text) };
  },
  eraseVisitor: (domainId: string | null, visitorId: string) =>
    (domainId === null
      ? call('post /v1/organization/visitors/erase', { body: { visitorId } }, long())
      : call(`post ${domainPath}/visitors/erase`, { params: { domainId }, body: { visitorId } }, long())
    ).then(bodyOf),
  erasure: (erasureId: string, signal?: AbortSignal) =>
    call('get /v1/organization/erasures/:erasureId', { params: { erasureId }, signal }).then(bodyOf),
  erasures: (cursor?: string, signal?: AbortSignal) =>
    call('get /v1/organization/erasures', { query: { cursor }, signal }).then(bodyOf),
  /** Acts about a visitor, without the id in an address. */
  actsAbout: (visitorId: string, cursor?: string, signal?: AbortSignal) =>
    call('post /v1/organization/acts/lookup', {
      query: { limit: listedActs, cursor },
      body: { visitorId },
      signal,
    }).then(bodyOf),
});
