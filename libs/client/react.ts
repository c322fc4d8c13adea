'use client';
/**
 * Entry of `@assent/client/react`: the visitor's choice in React, from the tag of a published banner. On a server, and
 * until the choice is known, nothing is allowed, so that hydration finds no difference.
 */
// biome-ignore lint/correctness/noUndeclaredDependencies: an optional peer dependency of the published package alone
import { type ReactNode, useEffect, useSyncExternalStore } from 'react';

/** The choice that the visitor made on this site. */
export interface Consent {
  /** of the record */
  id: string;
  decision: 'accept_all' | 'reject_all' | 'custom' | 'withdraw';
  /** category → allowed */
  preferences: Record<string, boolean>;
  /** RFC 3339 UTC */
  decidedAt: string;
  visitorId: string;
  policyVersion: string;
  gpc: boolean;
  /** the consent model under which the visitor chose; only if the banner has rules by place */
  model?: 'opt_in' | 'opt_out' | 'none' | undefined;
}

/** The part of `window.assent` that is used here. */
export interface PageApi {
  getConsent(): Consent | null;
  isAllowed(category: string): boolean;
  open(): void;
  withdraw(): void;
}

export interface ConsentState {
  /** false on a server and until the tag has run; stays false if the tag is blocked or the service is unavailable */
  isKnown: boolean;
  /** null until the visitor has decided */
  consent: Consent | null;
  /** whether the category may run now; some need no choice, such as `necessary` */
  isAllowed(category: string): boolean;
  /** opens the settings */
  open(): void;
  /** withdraws consent and records that */
  withdraw(): void;
}

/** `window.assent` may also be an element with that id, so a method is checked for. */
function pageApi(): PageApi | undefined {
  const { assent } = globalThis as { assent?: Partial<PageApi> };
  return typeof assent?.isAllowed === 'function' ? (assent as PageApi) : undefined;
}

const commands = { open: () => pageApi()?.open(), withdraw: () => pageApi()?.withdraw() };
const unknown: ConsentState = { isKnown: false, consent: null, isAllowed: () => false, ...commands };

let state = unknown;
const listeners = new Set<() => void>();
const events = ['assent:ready', 'assent:change'];

/** Each change creates a new state, since React compares them by identity. */
function update(): void {
  const api = pageApi();
  if (!api) return;
  state = { isKnown: true, consent: api.getConsent(), isAllowed: (category) => api.isAllowed(category), ...commands };
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  if (listeners.size === 1) {
    for (const event of events) document.addEventListener(event, update);
    // the tag may have run before
    update();
  }
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) for (const event of events) document.removeEventListener(event, update);
  };
}

/** The choice, and how to change it. Components that use it render again with each change. */
export const useConsent = (): ConsentState =>
  useSyncExternalStore(
    subscribe,
    () => state,
    () => unknown,
  );

/** Shows its children while the category is allowed; until then, and on a server, `fallback`. */
export function Allowed({
  category,
  fallback = null,
  children,
}: {
  category: string;
  fallback?: ReactNode;
  children?: ReactNode;
}): ReactNode {
  return useConsent().isAllowed(category) ? children : fallback;
}

/**
 * Puts the tag of the domain's published banner into the page, once, unless the page has it. `nonce`: of the page's content
 * security policy.
 */
export function AssentProvider({
  url,
  domainId,
  nonce,
  children,
}: {
  /** the address of the service */
  url: string;
  domainId: string;
  nonce?: string | undefined;
  children?: ReactNode;
}): ReactNode {
  useEffect(() => {
    const tag = document.createElement('script');
    tag.src = `${url.replace(/\/+$/, '')}/w/${encodeURIComponent(domainId)}.js`;
    if (pageApi() || Array.from(document.scripts).some(({ src }) => src === tag.src)) return;
    if (nonce) tag.nonce = nonce;
    // React 18 may render a document without a head
    (document.head ?? document.documentElement).append(tag);
  }, [url, domainId, nonce]);
  return children;
}
