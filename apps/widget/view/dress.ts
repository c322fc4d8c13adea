/** Elements with the widget's styles in a shadow tree, which the page's styles cannot reach. */
import { includes, map, words } from '#libs/widget/tamper-proof';
import { page } from '../page.ts';
import type { Settings } from '../settings.ts';
import { colour, styles } from './styles.ts';
import css from './widget.css?inline';

const darkSystem = matchMedia('(prefers-color-scheme: dark)');

/** `furtherCss`: the second file's, once it is there. */
export function createDress(settings: Settings, furtherCss: () => string | undefined) {
  const sheets = [styles(css)];
  const dressed: HTMLElement[] = [];

  /** Makes everything light or dark. */
  function paint(): void {
    const dark = isDark(settings.theme ?? 'auto');
    map(dressed, (each) => {
      each.classList.toggle('dark', dark);
      colour(each, settings.darkColors, !dark);
    });
  }
  darkSystem.onchange = paint;

  /** The second file's rules are parsed when they are first needed: most visitors see nothing of it. */
  function rules(): CSSStyleSheet[] {
    const further = furtherCss();
    if (further) sheets[1] ??= styles(further);
    return sheets;
  }

  function dress(tag: 'assent-widget' | 'assent-embed', content: HTMLElement): HTMLElement {
    const host = page.createElement(tag);
    const tree = host.attachShadow({ mode: 'open' });
    colour(host, settings.colors);
    tree.adoptedStyleSheets = rules();
    tree.append(content);
    dressed[dressed.length] = content;
    // the widget itself is painted once it is in the page
    if (sheets[1]) paint();
    return host;
  }

  return { paint, rules, dress };
}

/** `auto` follows the page if it declares only light or only dark, otherwise the visitor's system. */
function isDark(theme: 'auto' | 'light' | 'dark'): boolean {
  const { colorScheme } = getComputedStyle(page.documentElement);
  const meta = page.querySelector<HTMLMetaElement>('meta[name=color-scheme]')?.content;
  const schemes = words(theme !== 'auto' ? theme : colorScheme === 'normal' ? (meta ?? '') : colorScheme);
  const dark = includes(schemes, 'dark');
  return dark === includes(schemes, 'light') ? darkSystem.matches : dark;
}
