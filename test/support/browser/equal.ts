/** Whether the choices are equals on a page, and whether a language fits: looked at from within the page. */
import type { Frame, Page } from 'playwright-core';

/** As wide as a phone: each button has to hold its text in one line. */
const narrow = 360;

interface Looks {
  /** of the frame that the page is in: a language costs as much as all that is looked at in it */
  widths?: number[];
  /** the site's own colours, one set after another */
  colours?: Record<string, string>[];
}

/** Shows each language, one after another, in the view that is open, and says what is wrong with it. */
export const troublesIn = (
  page: Page | Frame,
  languages: readonly string[],
  { widths = [], colours = [{}] }: Looks = {},
): Promise<string[]> =>
  page.evaluate(
    async ([tags, widths, narrow, sets]) => {
      const host = document.querySelector<HTMLElement>('assent-widget');
      const root = host?.shadowRoot;
      const frame = root?.querySelector<HTMLElement>('div');
      const dialog = root?.querySelector('dialog');
      const troubles: string[] = [];
      const properties =
        'color background-color background-image border font opacity filter box-shadow text-decoration text-transform letter-spacing padding border-radius cursor';
      const look = (element: Element) => {
        const style = getComputedStyle(element);
        return properties.split(' ').map((name) => `${name}: ${style.getPropertyValue(name)}`);
      };
      const linesOf = (element: Element) => {
        const range = document.createRange();
        range.selectNodeContents(element);
        return new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size;
      };
      /** The change itself is waited for, not the next frame: there are hundreds of them, and each frame costs. */
      const speak = (tag: string) =>
        new Promise<unknown>((resolve) => {
          new MutationObserver((_, observer) => {
            if (frame?.lang !== tag) return;
            observer.disconnect();
            resolve(tag);
          }).observe(frame ?? document, { attributes: true });
          window.assent?.setLanguage(tag);
          if (frame?.lang === tag) resolve(tag);
          setTimeout(resolve, 60_000);
        });
      const measure = (tag: string, isNarrow: boolean, say: (trouble: string) => void) => {
        if (!dialog) return;
        const isRtl = ['ar', 'he'].includes(tag);
        if (getComputedStyle(dialog).direction !== (isRtl ? 'rtl' : 'ltr')) say(`direction ${frame?.dir}`);
        const buttons = [...dialog.querySelectorAll('.actions button')];
        const [accept, reject, third] = buttons;
        if (!accept || !reject || !third || buttons.length !== 3 || accept.nextElementSibling !== reject) {
          say('not the three buttons');
          return;
        }
        const [one, other] = [accept.getBoundingClientRect(), reject.getBoundingClientRect()];
        for (const { width, height } of [one, third.getBoundingClientRect()])
          if (Math.abs(width - other.width) > 0.5 || Math.abs(height - other.height) > 0.5)
            say(`${width} × ${height} and ${other.width} × ${other.height}`);
        const isBeside = Math.abs(one.top - other.top) < 0.5;
        if (!isBeside && Math.abs(one.left - other.left) > 0.5) say('neither side by side nor one below the other');
        if (isBeside ? one.left < other.left === isRtl : one.top > other.top) say('rejecting is before accepting');
        const looks = look(reject);
        for (const button of [accept, third]) {
          const differing = look(button).filter((each, index) => each !== looks[index]);
          if (differing.length > 0) say(`“${button.textContent}”: ${differing.join(', ')}`);
        }
        for (const element of [dialog, ...dialog.querySelectorAll('button, p, h2, li, label, summary')])
          if (element.scrollWidth > element.clientWidth && getComputedStyle(element).display !== 'inline')
            say(`“${element.textContent?.slice(0, 40)}” does not fit`);
        for (const button of buttons)
          if (isNarrow && linesOf(button) > 1) say(`“${button.textContent}” takes ${linesOf(button)} lines`);
        const box = document.querySelector('assent-embed')?.shadowRoot?.querySelector('.embed');
        const { right = 0, bottom = 0 } = box?.getBoundingClientRect() ?? {};
        for (const button of box?.querySelectorAll('button') ?? []) {
          const its = button.getBoundingClientRect();
          if (its.right > right || its.bottom > bottom) say(`“${button.textContent}” is beyond its placeholder`);
        }
      };
      for (const tag of tags) {
        await speak(tag);
        if (frame?.lang !== tag || !dialog?.open) troubles.push(`${tag}: shown in ${frame?.lang}`);
        else
          for (const set of sets) {
            for (const [name, value] of Object.entries(set)) host?.style.setProperty(`--assent-${name}`, value);
            for (const width of widths.length > 0 ? widths : [innerWidth]) {
              if (window.frameElement) (window.frameElement as HTMLElement).style.width = `${width}px`;
              const place = `${tag} at ${width} px ${JSON.stringify(set)}`;
              measure(tag, width === narrow, (trouble) => troubles.push(`${place}: ${trouble}`));
            }
          }
      }
      return troubles;
    },
    [languages, widths, narrow, colours] as const,
  );
