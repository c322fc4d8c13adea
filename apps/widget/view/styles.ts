/** Style sheets of the widget, and the site's colours in them. */
import { own } from '#libs/widget/tamper-proof';
import type { Settings } from '../settings.ts';

/** A constructed style sheet, which the page's content security policy does not block. */
export function styles(rules: string): CSSStyleSheet {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(rules);
  return sheet;
}

/** Sets the site's colours on `host`, where the sheets read them. `isOff`: removes them. */
export function colour(host: HTMLElement, colors?: Settings['colors'], isOff?: boolean): void {
  for (const name in own(colors))
    host.style.setProperty(
      `--assent-${name === 'buttonText' ? 'button-text' : name}`,
      isOff ? null : (colors?.[name] ?? null),
    );
}
