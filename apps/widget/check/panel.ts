/** The box on the checked site. A shadow tree keeps its styles and the page's apart. */
import type { Finding } from '#libs/widget/site-check';
import { page } from '../page.ts';
import { styles } from '../view/styles.ts';
import css from './panel.css?inline';

export interface Content {
  title: string;
  paragraphs?: string[];
  /** what to do now in the banner */
  task?: string;
  findings?: readonly Finding[];
  /** text to copy */
  copy?: string;
  /** the usual next thing: a button, or a link in a new tab */
  next?: Action | undefined;
  others?: Action[];
}
export type Action = [text: string, press: string | (() => unknown)];

export interface Panel {
  show(content: Content): void;
  close(): void;
}

const names = { fault: 'Fault', hint: 'Hint', information: 'Information' };

const made = <Tag extends keyof HTMLElementTagNameMap>(tag: Tag, text: string, ...children: Node[]) => {
  const element = page.createElement(tag);
  element.append(text, ...children);
  return element;
};

export function openPanel(home: Element): Panel {
  const host = page.createElement('assent-check');
  const tree = host.attachShadow({ mode: 'open' });
  tree.adoptedStyleSheets = [styles(css)];
  const box = page.createElement('section');
  box.setAttribute('aria-label', 'Site check');
  box.tabIndex = -1;
  tree.append(box);
  return {
    show: ({ title, paragraphs = [], task = '', findings = [], copy = '', next, others = [] }) => {
      const hadFocus = tree.activeElement !== null;
      const lines = paragraphs.map((line) => made('p', line));
      const status = made('div', '', made('h2', title), ...lines, ...(task ? [made('b', task)] : []));
      status.setAttribute('role', 'status');
      const text = made('textarea', copy);
      text.readOnly = true;
      text.setAttribute('aria-label', 'Result to copy');
      box.replaceChildren(
        status,
        ...(findings.length > 0 ? [made('ul', '', ...findings.map(item))] : []),
        ...(copy ? [text] : []),
        made('footer', '', ...(next ? [control(next, true)] : []), ...others.map((each) => control(each))),
      );
      if (!host.isConnected) home.append(host);
      // the button that had it is gone
      if (hadFocus) box.focus({ preventScroll: true });
      box.scrollTop = 0;
    },
    close: () => host.remove(),
  };
}

/** `isNext`: it stands out, and works once. */
function control([text, press]: Action, isNext = false): HTMLElement {
  const element = made(typeof press === 'string' ? 'a' : 'button', text);
  if (isNext) element.className = 'next';
  if (typeof press !== 'string') element.addEventListener('click', () => press(), { once: isNext });
  else if (element instanceof HTMLAnchorElement) {
    element.href = press;
    element.target = '_blank';
    element.rel = 'noopener';
  }
  return element;
}

function item({ level, what, advice }: Finding): HTMLElement {
  const name = made('strong', `${names[level]}: `);
  const element = made('li', '', name);
  element.className = level;
  element.append(what, made('small', advice));
  return element;
}
