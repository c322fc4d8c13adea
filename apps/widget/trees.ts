import { either } from './attempt.ts';
import { map } from './plain.ts';

/** The tree, and all open shadow trees in it. */
export function eachTree(tree: ParentNode, work: (tree: ParentNode) => void): void {
  work(tree);
  map(tree.querySelectorAll('*'), ({ shadowRoot }) => {
    // a form's fields can take its place
    if (shadowRoot) either(() => eachTree(shadowRoot, work));
  });
}
