import { map, own } from '#libs/widget/tamper-proof';
import { page } from '../page.ts';

declare global {
  interface EventTarget {
    /** Runs on a click. A listener would not do: `document.open` removes it, and a focus trap of the page stops clicks. */
    assentClick?: () => void;
  }
}

/** Nested lists are flattened. */
export type Children = (Node | string | Children)[];
type Attribute = string | boolean | undefined | (() => void);

/** Creates an element. `true` sets an empty attribute, and a function runs on a click. */
export function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Record<string, Attribute> = {},
  ...children: Children
): HTMLElementTagNameMap[Tag] {
  const made = page.createElement(tag);
  for (const name in own(attributes)) {
    const value = attributes[name];
    if (typeof value === 'function') made.assentClick = value;
    else if (value || value === '') made.setAttribute(name, value === true ? '' : value);
  }
  return add(made, children);
}

export function add<Parent extends Element>(parent: Parent, children: Children): Parent {
  map(children, (child) => {
    // biome-ignore lint/suspicious/useIsArray: the page may have replaced that
    if (child instanceof Array) add(parent, child);
    else parent.append(child);
  });
  return parent;
}

/** An icon of strokes on a 24 × 24 grid, for a button with a label: screen readers ignore the content of such a button. */
export function icon(path: string): SVGElement {
  const svg = vector('svg', 'viewBox', '0 0 24 24');
  svg.append(vector('path', 'd', path));
  return svg;
}

function vector(tag: string, name: string, value: string): SVGElement {
  const made = page.createElementNS('http://www.w3.org/2000/svg', tag) as SVGElement;
  made.setAttribute(name, value);
  return made;
}
