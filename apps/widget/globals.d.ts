/** Vite imports the stylesheet as minified text. */
declare module '*.css?inline' {
  const css: string;
  export default css;
}

/** The release, inserted by the build. */
declare const __VERSION__: string;
/** The hash of the texts in other languages, inserted by the build. */
declare const __TEXTS__: string;
/** Paths of the other files, relative to the service's address, and their integrity; inserted by the build. */
declare const __SECOND_FILE__: string;
declare const __SECOND_INTEGRITY__: string;
declare const __THIRD_FILE__: string;
declare const __THIRD_INTEGRITY__: string;
declare const __FOURTH_FILE__: string;
declare const __FOURTH_INTEGRITY__: string;

/** Missing from TypeScript's DOM types. Trusted values are typed as texts. */
interface Window {
  readonly trustedTypes?: { createPolicy<Rules>(name: string, rules: Rules): Rules };
}

/** Global Privacy Control is missing from TypeScript's DOM types. */
interface Navigator {
  readonly globalPrivacyControl?: boolean;
}

interface HTMLElementTagNameMap {
  'assent-widget': HTMLElement;
  'assent-embed': HTMLElement;
  'assent-check': HTMLElement;
}
