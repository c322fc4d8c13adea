/** Vite hands over the style sheet as text, minified. */
declare module '*.css?inline' {
  const css: string;
  export default css;
}

/** The release, put in by the build. */
declare const __VERSION__: string;
