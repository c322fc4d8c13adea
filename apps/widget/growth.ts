/** What a page gets while it is open, also in open shadow trees. */

import { bare, map } from '#libs/widget/plain';
import { page } from './page.ts';
import { eachTree } from './trees.ts';

/** Milliseconds between two searches of a page that keeps growing, and how much of its time they take at most. */
const pause = 50;
const share = 1 / 20;

/** the document and the shadow trees of the last search */
let trees: ParentNode[] = [];

/**
 * In page order, those in shadow trees last. Where the widget's tag has a nonce, only those with the same one: with
 * `strict-dynamic`, the page's policy trusts whatever the widget adds.
 */
export function find<Found extends HTMLElement>(selector: string, nonce: string): Found[] {
  const found: Found[] = [];
  map(trees, (tree) => {
    map(tree.querySelectorAll<Found>(selector), (element) => {
      if (!nonce || element.nonce === nonce) found[found.length] = element;
    });
  });
  return found;
}

/** Calls `work` now and whenever elements are added to the page, also to a document element that replaces this one. */
export function onGrowth(work: () => void): void {
  let isPlanned = false;
  let wait = pause;
  const begin = () => {
    const start = performance.now();
    isPlanned = false;
    trees = [];
    eachTree(page, (tree) => {
      trees[trees.length] = tree;
      // what is observed already is not observed twice
      if (tree !== page) watch(tree);
    });
    work();
    wait = pause + (performance.now() - start) / share;
  };
  const plan = () => {
    if (!isPlanned) setTimeout(begin, wait);
    isPlanned = true;
  };
  const observer = new MutationObserver(plan);
  const watch = (tree: Node) => observer.observe(tree, bare({ childList: true, subtree: true }));
  begin();
  watch(document);
}
