/**
 * The widget's own tag, however it came into the page. A module, and a script in a shadow tree, is not told which tag it
 * is; tag managers make the element anew without its `data-` attributes; what delays scripts changes their type and
 * where their address stands.
 */
import { either } from '#libs/widget/attempt';
import { map, own } from '#libs/widget/tamper-proof';
import { page, resolve } from './page.ts';
import { eachTree } from './page-elements.ts';

interface Tag {
  /** its `data-` attributes, named as in `dataset` */
  data: Record<string, string | undefined>;
  /** where its file is from, with the query; the page's own, without, where nothing tells: its query is anybody's */
  address: string;
  /** of the element, empty without one */
  nonce: string;
}

const ours = /^http[^?#]*\/(widget(-\w+)?|(w)\/[^?#]*)\.js\b/;
/** Other services have files of that name, too. */
const named = /\b(dom|ak)_/;

export function findTag(): Tag {
  const running = page.currentScript as HTMLScriptElement | null;
  let data: Tag['data'] = own();
  let address = '';
  let nonce = '';
  const look = (element: HTMLScriptElement): void => {
    const { src } = element;
    const given = own(element.dataset);
    // in whatever attribute; a site may serve its tag's file under another name
    const found =
      element === running && (given.domain || given.key) && src[0] === 'h'
        ? src
        : map(element.attributes, ({ value }) => either(() => ours.exec((resolve(value) as URL).href)?.input))[0];
    const isSure = element === running || (found && either(() => named.test(element.outerHTML)));
    if (!isSure && (address || !found)) return;
    address = found || address || src;
    // browsers hide the attribute
    nonce = element.nonce;
    // what a tag says besides counts also where domain and key stand elsewhere
    if (isSure && (given.domain || given.key || !data.domain)) data = given;
  };
  // the file of a published banner names both itself
  const says = (name: string) =>
    own(running?.dataset)[name] ||
    either(() => new URL((running as HTMLScriptElement).src).searchParams.get(name)) ||
    either(() => ours.exec((running as HTMLScriptElement).src)?.[3]);
  // the newest that has them, and what runs is newest; what is not needed is not looked for, since visitors may write markup
  if (!says('domain') || !says('key'))
    eachTree(page, (tree) => map(tree.querySelectorAll<HTMLScriptElement>('script'), look));
  if (running) look(running);
  return { data, address: address || (resolve('.') as URL).href, nonce };
}
