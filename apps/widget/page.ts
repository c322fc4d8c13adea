/**
 * The document and the window as the browser and scripts made them. Markup can put an element before either's own
 * members: with `<img name=cookie>` in a page, `document.cookie` is that image, and so is `window.assentConfig` with
 * `<a id=assentConfig>`. What a page shows may come from its visitors, so nothing that markup can name is trusted.
 * A page may have something else called `Document`, as one with MooTools has, so the members are those of HTMLDocument.
 * Where a script has spoilt the built-ins that lead past it, markup's names are the lesser evil.
 */
import { either } from '#libs/widget/attempt';

type Members = Record<PropertyKey, (...given: unknown[]) => unknown>;

export const page: Document =
  either(
    () =>
      new Proxy({} as Document, {
        get: (_, name) => {
          const value = either(
            () => Reflect.get(HTMLDocument.prototype, name, document),
            (document as unknown as Members)[name],
          );
          if (typeof value !== 'function') return value;
          return either(
            () => value.bind(document),
            (one: unknown, two: unknown) => (document as unknown as Members)[name]?.(one, two),
          );
        },
        set: (_, name, value) => {
          if (!either(() => Reflect.set(HTMLDocument.prototype, name, value, document)))
            (document as unknown as Record<PropertyKey, unknown>)[name] = value;
          return true;
        },
      }),
  ) ?? document;

/** What a script assigned to the window; undefined where there is at most an element of that name. */
export const assigned = <Name extends keyof Window>(name: Name): Window[Name] | undefined =>
  either(() => Object.hasOwn(window, name), true) ? window[name] : undefined;

/** As the page would resolve it; undefined for what is no address. */
export const resolve = (address: string): URL | undefined => either(() => new URL(address, page.baseURI));
