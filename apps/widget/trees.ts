import { either } from '#libs/widget/attempt';
import { map } from '#libs/widget/plain';

/** The tree, and all open shadow trees in it. */
export function eachTree(tree: ParentNode, work: (tree: ParentNode) => void): void {
  work(tree);
  map(tree.querySelectorAll('*'), (element) => {
    const { shadowRoot } = element;
    // a form's fields can take its place, one or several
    if (shadowRoot?.host === element) either(() => eachTree(shadowRoot, work));
  });
}
