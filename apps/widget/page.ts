/**
 * The document and the window without elements that shadow their members: with `<img name=cookie>` in a page,
 * `document.cookie` is that image, and with `<a id=assentConfig>`, `window.assentConfig` is that link. Visitors may write
 * markup, so a name that markup can take is not trusted. The members are those of HTMLDocument, since libraries such as
 * MooTools replace `Document`. If a script has broken the built-ins used here, the shadowed names are used after all.
 */
import { orElse } from '#libs/widget/attempt';

type Members = Record<PropertyKey, (...given: unknown[]) => unknown>;

export const page: Document =
  orElse(
    () =>
      new Proxy({} as Document, {
        get: (_, name) => {
          const value = orElse(
            () => Reflect.get(HTMLDocument.prototype, name, document),
            (document as unknown as Members)[name],
          );
          if (typeof value !== 'function') return value;
          return orElse(
            () => value.bind(document),
            (one: unknown, two: unknown) => (document as unknown as Members)[name]?.(one, two),
          );
        },
        set: (_, name, value) => {
          if (!orElse(() => Reflect.set(HTMLDocument.prototype, name, value, document)))
            (document as unknown as Record<PropertyKey, unknown>)[name] = value;
          return true;
        },
      }),
  ) ?? document;

/** The value that a script assigned to the window; undefined for an element of that name. */
export const assigned = <Name extends keyof Window>(name: Name): Window[Name] | undefined =>
  orElse(() => Object.hasOwn(window, name), true) ? window[name] : undefined;

/** Resolves an address as the page does; undefined if it is invalid. */
export const resolve = (address: string): URL | undefined => orElse(() => new URL(address, page.baseURI));
