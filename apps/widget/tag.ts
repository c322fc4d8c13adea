/**
 * Finds the widget's own tag. Modules and scripts in a shadow tree have no `currentScript`; tag managers copy the element
 * without its `data-` attributes; scripts that delay others change their type and move their address to another attribute.
 */
import { orElse } from '#libs/widget/attempt';
import { map, own } from '#libs/widget/tamper-proof';
import { page, resolve } from './page.ts';
import { eachTree } from './page-elements.ts';

interface Tag {
  /** its `data-` attributes, named as in `dataset` */
  data: Record<string, string | undefined>;
  /**
   * the address of the tag's file, with its query; if unknown, the folder of the page's address, without the query, which
   * visitors can set
   */
  address: string;
  /** of the element; empty without one */
  nonce: string;
}

const ours = /^http[^?#]*\/(widget(-\w+)?|(w)\/[^?#]*)\.js\b/;
/** Other services also have a `widget.js`, but no `dom_…` or `ak_…` in its tag. */
const named = /\b(dom|ak)_/;

export function findTag(): Tag {
  const running = page.currentScript as HTMLScriptElement | null;
  let data: Tag['data'] = own();
  let address = '';
  let nonce = '';
  const look = (element: HTMLScriptElement): void => {
    const { src } = element;
    const given = own(element.dataset);
    // the address may be in any attribute, and a site may serve the file under another name
    const found =
      element === running && (given.domain || given.key) && src[0] === 'h'
        ? src
        : map(element.attributes, ({ value }) => orElse(() => ours.exec((resolve(value) as URL).href)?.input))[0];
    const isSure = element === running || (found && orElse(() => named.test(element.outerHTML)));
    if (!isSure && (address || !found)) return;
    address = found || address || src;
    // browsers hide the attribute
    nonce = element.nonce;
    // the attributes of a tag that is surely ours are used even without a domain or key (these may be in its address or in
    // `assentConfig`), unless an earlier tag gave a domain
    if (isSure && (given.domain || given.key || !data.domain)) data = given;
  };
  // a script under `/w/` is a published banner, which counts as naming both domain and key
  const says = (name: string) =>
    own(running?.dataset)[name] ||
    orElse(() => new URL((running as HTMLScriptElement).src).searchParams.get(name)) ||
    orElse(() => ours.exec((running as HTMLScriptElement).src)?.[3]);
  // visitors may write markup, so the page is searched only if needed; the last tag wins, and the running one comes last
  if (!says('domain') || !says('key'))
    eachTree(page, (tree) => map(tree.querySelectorAll<HTMLScriptElement>('script'), look));
  if (running) look(running);
  return { data, address: address || (resolve('.') as URL).href, nonce };
}
