/** Finds elements of the page, also in open shadow trees, now and whenever some are added. */
import { orElse } from '#libs/widget/attempt';
import { bare, map } from '#libs/widget/tamper-proof';
import { page } from './page.ts';

/** Milliseconds between two searches of a page that keeps growing. */
const pause = 50;
/** The largest share of the page's time that searches may take. */
const share = 1 / 20;

/** the document and the shadow trees of the last search */
let trees: ParentNode[] = [];

/** Calls `work` for the tree and for all open shadow trees in it. */
export function eachTree(tree: ParentNode, work: (tree: ParentNode) => void): void {
  work(tree);
  map(tree.querySelectorAll('*'), (element) => {
    const { shadowRoot } = element;
    // in a form, fields named `shadowRoot` hide this property: it is then a field, or a list of fields
    if (shadowRoot?.host === element) orElse(() => eachTree(shadowRoot, work));
  });
}

/**
 * Returns elements in page order, those in shadow trees last. If the widget's tag has a nonce, returns only elements with
 * that nonce, because under `strict-dynamic` the page's policy trusts every script that the widget adds.
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

/** Calls `work` now and whenever elements are added, also to a document element that replaces this one. */
export function onAdded(work: () => void): void {
  let isPlanned = false;
  let wait = pause;
  const search = () => {
    const start = performance.now();
    isPlanned = false;
    trees = [];
    eachTree(page, (tree) => {
      trees[trees.length] = tree;
      // observing a tree twice has no effect
      if (tree !== page) watch(tree);
    });
    work();
    wait = pause + (performance.now() - start) / share;
  };
  const plan = () => {
    if (!isPlanned) setTimeout(search, wait);
    isPlanned = true;
  };
  const observer = new MutationObserver(plan);
  const watch = (tree: Node) => observer.observe(tree, bare({ childList: true, subtree: true }));
  search();
  watch(document);
}
