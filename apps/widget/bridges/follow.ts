/** Shared by the bridges, which pass the visitor's choice on to a platform that stores a choice of its own. */
import type { Consent } from '../consent.ts';
import type {} from '../public-api.ts';

/** The site's own names of categories, set on the bridge's script tag: `data-analytics="statistics"`. */
const names = document.currentScript?.dataset ?? {};

/** Whether the visitor allows this category, given by the widget's default name for it. */
export const isAllowed = (category: string): boolean => window.assent?.isAllowed(names[category] || category) === true;

/** Calls `apply` with each choice, also one from an earlier page. Does nothing while the visitor has not chosen. */
export function follow(apply: () => void): void {
  const onChoice = ({ detail }: Event & { detail?: Consent | null }) => {
    if (detail) apply();
  };
  document.addEventListener('assent:ready', onChoice);
  document.addEventListener('assent:change', onChoice);
  // the widget may have run before this script
  if (window.assent?.getConsent()) apply();
}

/** Once the page has loaded: a platform's own scripts may come late. */
export function onLoad(work: () => void): void {
  if (document.readyState === 'complete') work();
  else addEventListener('load', work, { once: true });
}
