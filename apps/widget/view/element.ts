import { page } from '../page.ts';

type Attribute = string | boolean | undefined | (() => void);

/** Creates an element. `true` sets an empty attribute, and a function listens to the event of that name. */
export function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Record<string, Attribute> = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[Tag] {
  const made = page.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') made.addEventListener(name, value);
    else if (value !== undefined && value !== false) made.setAttribute(name, value === true ? '' : value);
  }
  made.append(...children);
  return made;
}

/** An icon of strokes on a 24 × 24 grid, for a button with a label: browsers hide what is in it from screen readers. */
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
