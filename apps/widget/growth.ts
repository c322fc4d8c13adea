/** What a page gets while it is open, also in open shadow trees. */
import { page } from './page.ts';
import { map, part } from './plain.ts';

/** Milliseconds between two searches of a page that keeps growing, and how much of its time they take at most. */
const pause = 50;
const share = 1 / 20;

/** the document and the shadow trees of the last search */
let trees: ParentNode[] = [];

/** In page order, those in shadow trees last. */
export function find<Found extends Element>(selector: string): Found[] {
  const found: Found[] = [];
  map(trees, (tree) => {
    map(tree.querySelectorAll<Found>(selector), (element) => {
      found[found.length] = element;
    });
  });
  return found;
}

/**
 * Calls `work` now and whenever elements are added to the page, also to a document element that replaces this one, and
 * when its size changes.
 */
export function onGrowth(work: () => void): void {
  let isPlanned = false;
  let wait = pause;
  const begin = () => {
    const start = performance.now();
    isPlanned = false;
    trees = [];
    see(page);
    work();
    const took = (performance.now() - start) / share;
    wait = took > pause ? took : pause;
  };
  const plan = () => {
    if (!isPlanned) setTimeout(begin, wait);
    isPlanned = true;
  };
  const observer = new MutationObserver(plan);
  const watch = (tree: Node) => observer.observe(tree, { childList: true, subtree: true });
  function see(tree: ParentNode): void {
    trees[trees.length] = tree;
    map(tree.querySelectorAll('*'), ({ shadowRoot, localName }) => {
      // our own show nothing of the page's
      if (!(shadowRoot instanceof ShadowRoot) || part(localName, 0, 7) === 'assent-') return;
      watch(shadowRoot);
      see(shadowRoot);
    });
  }
  begin();
  watch(document);
  addEventListener('resize', plan);
}
