/**
 * The document and the window as the browser and scripts made them. Markup can put an element before either's own
 * members: with `<img name=cookie>` in a page, `document.cookie` is that image, and so is `window.assentConfig` with
 * `<a id=assentConfig>`. What a page shows may come from its visitors, so nothing that markup can name is trusted.
 */

export const page = new Proxy({} as Document, {
  get: (_, name) => {
    const value = Reflect.get(Document.prototype, name, document);
    return typeof value === 'function' ? value.bind(document) : value;
  },
  set: (_, name, value) => Reflect.set(Document.prototype, name, value, document),
});

/** What a script assigned to the window; undefined where there is at most an element of that name. */
export const assigned = <Name extends keyof Window>(name: Name): Window[Name] | undefined =>
  Object.hasOwn(window, name) ? window[name] : undefined;
