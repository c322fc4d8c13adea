/** The style sheets of the widget, and the site's colours in them. */

import { own } from '#libs/widget/plain';

/** A constructed stylesheet, which the page's content security policy does not restrict. */
export function styles(rules: string): CSSStyleSheet {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(rules);
  return sheet;
}

/** `host`: of the shadow tree, whose sheets take the site's colours from it. */
export function colour(host: HTMLElement, colors: Record<string, string>): void {
  for (const name in own(colors))
    host.style.setProperty(`--assent-${name === 'buttonText' ? 'button-text' : name}`, colors[name] ?? null);
}
