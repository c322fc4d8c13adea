import { either } from './attempt.ts';
import { map, part } from './plain.ts';

/** The tree, and all open shadow trees in it. Ours have nothing of the page's. */
export function eachTree(tree: ParentNode, work: (tree: ParentNode) => void): void {
  work(tree);
  map(tree.querySelectorAll('*'), ({ shadowRoot, localName }) => {
    // a form's fields can take its place
    if (shadowRoot && part(localName, 0, 7) !== 'assent-') either(() => eachTree(shadowRoot, work));
  });
}
