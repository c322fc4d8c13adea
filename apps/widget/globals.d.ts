/** Vite imports the stylesheet as minified text. */
declare module '*.css?inline' {
  const css: string;
  export default css;
}

/** The release, inserted by the build. */
declare const __VERSION__: string;

/** Global Privacy Control is missing from TypeScript's DOM types. */
interface Navigator {
  readonly globalPrivacyControl?: boolean;
}

interface HTMLElementTagNameMap {
  'assent-widget': HTMLElement;
}
