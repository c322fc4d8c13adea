/** The box on the checked site. A shadow tree keeps its styles and the page's apart. */
import type { Finding } from '#libs/widget/site-check';
import { page } from '../page.ts';
import { styles } from '../view/styles.ts';
import css from './panel.css?inline';

interface Content {
  title: string;
  paragraphs: string[];
  findings?: readonly Finding[];
  /** text to copy */
  copy?: string;
  actions: [text: string, press: () => unknown][];
}

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
  tree.append(box);
  const attach = () => {
    if (!host.isConnected) home.append(host);
  };
  return {
    show: ({ title, paragraphs, findings = [], copy, actions }) => {
      const status = page.createElement('div');
      status.setAttribute('role', 'status');
      status.append(made('h2', title), ...paragraphs.map((text) => made('p', text)));
      const list = made('ul', '', ...findings.map(item));
      const buttons = made(
        'footer',
        '',
        ...actions.map(([text, press], at) => {
          const button = made('button', text);
          button.type = 'button';
          if (at === 0) button.className = 'first';
          button.onclick = () => {
            button.disabled = true;
            press();
          };
          return button;
        }),
      );
      const text = made('textarea', copy ?? '');
      text.readOnly = true;
      text.setAttribute('aria-label', 'Result to copy');
      box.replaceChildren(status, ...(findings.length > 0 ? [list] : []), ...(copy ? [text] : []), buttons);
      attach();
    },
    close: () => host.remove(),
  };
}

function item({ level, what, advice }: Finding): HTMLElement {
  const name = made('strong', `${names[level]}: `);
  const element = made('li', '', name);
  element.className = level;
  element.append(what, made('small', advice));
  return element;
}
